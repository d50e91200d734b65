import Foundation

/// A reader of untrusted bytes. It may refuse them. A crash, a hang or a violated invariant ends the run.
struct FuzzedReader: Sendable {
    /// Also the name of its folder in `Corpus`.
    let name: String
    let read: @Sendable ([UInt8]) -> Void

    init(_ name: String, _ read: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.read = read
    }

    static let all = apns + emulator + hub + http + backend + tokens

    /// The reader that the environment variable `FUZZ_READER` names; `list` prints the names of all.
    static let chosen: FuzzedReader = {
        let name = ProcessInfo.processInfo.environment["FUZZ_READER"] ?? ""
        if let reader = all.first(where: { $0.name == name }) { return reader }
        print(all.map(\.name).joined(separator: "\n"))
        exit(name == "list" ? 0 : 64)
    }()
}

/// What a target makes of its input: a choice first, then the bytes themselves.
struct FuzzInput {
    private(set) var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// A number below `limit`, by one byte.
    mutating func choice(below limit: Int) -> Int { Int(byte()) % limit }

    /// What is left of the line, without its end.
    mutating func line() -> String {
        let line = bytes.prefix { $0 != 0x0A }
        bytes = bytes.dropFirst(line.count + 1)
        return String(decoding: line, as: UTF8.self)
    }

    var rest: [UInt8] { Array(bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension [UInt8] {
    /// The bytes in pieces of at most `size`.
    func pieces(of size: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { Array(self[$0..<Swift.min(count, $0 + Swift.max(1, size))]) }
    }
}
