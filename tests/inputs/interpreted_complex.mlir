func.func private @show(%z: complex<f32>) {
  %r = complex.re %z : complex<f32>
  %i = complex.im %z : complex<f32>
  vector.print %r : f32
  vector.print %i : f32
  return
}
func.func @main() {
  %a = complex.constant [1.5 : f32, -2.0 : f32] : complex<f32>
  %x = arith.constant 3.0 : f32
  %y = arith.constant 0.5 : f32
  %t = arith.constant true
  %c0 = arith.constant 0 : index
  %b = complex.create %x, %y : complex<f32>
  %s = complex.add %a, %b : complex<f32>
  call @show(%s) : (complex<f32>) -> ()
  %d = complex.sub %a, %b : complex<f32>
  call @show(%d) : (complex<f32>) -> ()
  %p = complex.mul %a, %b : complex<f32>
  call @show(%p) : (complex<f32>) -> ()
  %n = complex.neg %p : complex<f32>
  call @show(%n) : (complex<f32>) -> ()
  %cj = complex.conj %p : complex<f32>
  call @show(%cj) : (complex<f32>) -> ()
  %e = complex.eq %a, %b : complex<f32>
  vector.print %e : i1
  %ne = complex.neq %a, %b : complex<f32>
  vector.print %ne : i1
  %sl = arith.select %t, %a, %b : complex<f32>
  call @show(%sl) : (complex<f32>) -> ()
  %m = memref.alloc() : memref<2xcomplex<f32>>
  memref.store %p, %m[%c0] : memref<2xcomplex<f32>>
  %l = memref.load %m[%c0] : memref<2xcomplex<f32>>
  call @show(%l) : (complex<f32>) -> ()
  return
}
