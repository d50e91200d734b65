/// What libFuzzer calls first. Ends the program unless the environment names a reader; `exit` later would count as a crash.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    _ = FuzzedReader.chosen
    return 0
}

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzedReader.chosen.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
