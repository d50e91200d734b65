import ClarionTesting
@testable import PushHub
import Testing

@Suite("Cutting files into lines")
struct LineSplitterTests {
    @Test("a file in pieces of any size gives the same lines, and every end is a place to go on from")
    func pieces() throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let file = Array("\u{FEFF}one\r\n\n  \ntwo\nis too long a line\n three \nlast".utf8)
        let expected: [LineSplitter.Line] = [
            .init(number: 1, bytes: Array("one".utf8), end: 8), .init(number: 4, bytes: Array("two".utf8), end: 16),
            .init(number: 5, bytes: nil, end: 35), .init(number: 6, bytes: Array("three".utf8), end: 43),
            .init(number: 7, bytes: Array("last".utf8), end: 47),
        ]
        for _ in 0..<200 {
            var splitter = LineSplitter(limit: 10)
            #expect(Self.lines(file[...], &splitter, &generator) == expected, "seed \(generator.seed)")
        }
        for (index, line) in expected.enumerated() {
            var splitter = LineSplitter(limit: 10, after: line.number, offset: line.end)
            #expect(Self.lines(file[line.end...], &splitter, &generator) == Array(expected[(index + 1)...]))
        }
    }

    private static func lines(
        _ file: ArraySlice<UInt8>, _ splitter: inout LineSplitter, _ generator: inout SeededGenerator
    ) -> [LineSplitter.Line] {
        var lines: [LineSplitter.Line] = []
        var rest = file
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &generator))
            rest = rest.dropFirst(piece.count)
            splitter.append(piece)
            while let line = splitter.next() { lines.append(line) }
        }
        if let line = splitter.finish() { lines.append(line) }
        return lines
    }
}
