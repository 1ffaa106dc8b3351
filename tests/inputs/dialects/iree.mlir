#target = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", stack = 32768 : i64}>
#device = #hal.device.target<"local", [#target]> : !hal.device
#pipeline_layout = #hal.pipeline.layout<bindings = [
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<storage_buffer, Indirect>
], flags = Indirect>
module attributes {stream.affinity.default = #hal.device.affinity<@__device_0>} {
  util.global private @__device_0 = #device
  util.global private @hoisted {stream.affinity = #hal.device.affinity<@__device_0>} : !stream.resource<constant>
  hal.executable private @main_dispatch_0 {
    hal.executable.variant public @embedded target(#target) {
      hal.executable.export public @main_dispatch_0_matmul ordinal(0) layout(#pipeline_layout) count(%arg0: !hal.device, %arg1: index) -> (index, index, index) {
        %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%arg1)
        hal.return %x, %y, %z : index, index, index
      } attributes {workgroup_size = [1 : index, 1 : index, 1 : index]}
      builtin.module {
        func.func @main_dispatch_0_matmul() {
          %c0 = arith.constant 0 : index
          %0 = hal.interface.binding.subspan layout(#pipeline_layout) binding(0) alignment(64) offset(%c0) flags("ReadOnly|Indirect") : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x4xf32>>{%c0}
          %1 = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0, 0], sizes = [%c0, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x4xf32>>{%c0} -> tensor<?x4xf32>
          return
        }
      }
    }
  }
  util.initializer {
    %cst = stream.resource.constants on(#hal.device.affinity<@__device_0>) :
      !stream.resource<constant>{%c64} = dense<"0x0000803F"> : tensor<1xf32>
    util.global.store %cst, @hoisted : !stream.resource<constant>
    util.return
  }
  util.func public @main(%arg0: !hal.buffer_view, %arg1: !hal.fence) -> !hal.buffer_view attributes {iree.reflection = {iree.abi.declaration = "async func @main(%input0: tensor<?x4xf32>) -> ()"}} {
    %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index
    %result, %timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) await(%t) => !stream.resource<external>{%0} => !stream.timepoint
    %1 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%timepoint) => with(%r as %arg2: !stream.resource<external>{%0}, %result as %arg3: !stream.resource<external>{%0}) {
      stream.cmd.concurrent {
        stream.cmd.fill %c0_i8, %arg3[%c0 for %0] : i8 -> !stream.resource<external>{%0}
        stream.cmd.dispatch @main_dispatch_0::@embedded::@main_dispatch_0_matmul[%0](%0 : index) {
          ro %arg2[%c0 for %0] : !stream.resource<external>{%0},
          wo %arg3[%c0 for %0] : !stream.resource<external>{%0}
        }
      }
    } => !stream.timepoint
    %view = hal.buffer_view.create buffer(%result : !hal.buffer)[%c0, %0]
                                   shape([%0, %c4])
                                   type(%f32)
                                   encoding(%dense) : !hal.buffer_view
    util.return %view : !hal.buffer_view
  }
}
