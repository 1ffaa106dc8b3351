hw.module @Counter(in %clock : !seq.clock, in %reset : i1, out count : i8) {
  %c1_i8 = hw.constant 1 : i8
  %reg = seq.firreg %next clock %clock reset sync %reset, %c0_i8 {firrtl.random_init_start = 0 : ui64} : i8
  %next = comb.add bin %reg, %c1_i8 {sv.namehint = "next"} : i8
  sv.ifdef @SYNTHESIS {
  } else {
    sv.always posedge %clock {
      sv.if %reset {
        sv.fwrite %fd, "reset {{0}}\0A"(%reset) : i1
      } else {
        sv.passign %r, %next : i8
      }
    }
  }
  %child.out = hw.instance "child" @Child(a: %reg: i8) -> (out: i8)
  hw.output %reg : i8
}
calyx.component @main(%go: i1 {go}, %clk: i1 {clk}) -> (%done: i1 {done}) {
  %r.in, %r.write_en, %r.done = calyx.register @r : i8, i1, i1
  calyx.wires {
    calyx.group @A {
      calyx.assign %r.in = %go ? %c : i8
      calyx.group_done %r.done : i1
    }
  }
  calyx.control {
    calyx.seq {
      calyx.enable @A
    }
  }
}
