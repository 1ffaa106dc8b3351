"""A program with bits as operands and results, and with elements that are read at indices."""

BITS_AND_LOOKUP = """
#all = affine_map<(n, m) -> (n, m)>
#row = affine_map<(n, m) -> (n)>
func.func @main(%flags: tensor<20x30xi1>, %x: tensor<20x30xf32>, %y: tensor<20x30xf32>,
                %at: tensor<20xi32>, %table: tensor<50x30xf32>)
    -> (tensor<20x30xf32>, tensor<20x30xi1>, tensor<20x30xf32>) {
  %empty = tensor.empty() : tensor<20x30xf32>
  %chosen = linalg.generic {indexing_maps = [#all, #all, #all, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%flags, %x, %y : tensor<20x30xi1>, tensor<20x30xf32>, tensor<20x30xf32>)
      outs(%empty : tensor<20x30xf32>) {
  ^bb0(%flag: i1, %a: f32, %b: f32, %out: f32):
    %one = arith.select %flag, %a, %b : f32
    linalg.yield %one : f32
  } -> tensor<20x30xf32>
  %bits = tensor.empty() : tensor<20x30xi1>
  %below = linalg.generic {indexing_maps = [#all, #all, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<20x30xf32>, tensor<20x30xf32>) outs(%bits : tensor<20x30xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %less = arith.cmpf olt, %a, %b : f32
    linalg.yield %less : i1
  } -> tensor<20x30xi1>
  %gathered = linalg.generic {indexing_maps = [#row, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<20xi32>) outs(%empty : tensor<20x30xf32>) {
  ^bb0(%i: i32, %out: f32):
    %place = arith.index_cast %i : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%place, %column] : tensor<50x30xf32>
    linalg.yield %element : f32
  } -> tensor<20x30xf32>
  return %chosen, %below, %gathered : tensor<20x30xf32>, tensor<20x30xi1>, tensor<20x30xf32>
}
"""
