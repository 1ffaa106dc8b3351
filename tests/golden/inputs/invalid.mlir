func.func @bad() -> i32 {
  return
}
