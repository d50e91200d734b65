import PushHub
import RichPushModel
import Testing

@testable import ContentStorage

@Suite("The objects of a file")
struct S3FileKeysTests {
    private static func blob(_ name: String) throws -> BlobReference {
        BlobReference(hub: HubID(7), container: .feedback, name: try #require(BlobName(name)))
    }

    @Test("a key says which part of which file it is")
    func keys() throws {
        let blob = try Self.blob("demo/17/Output.txt")
        #expect(S3FileKeys.mark(blob) == "files/7/feedback/demo/17/Output.txt!-")
        #expect(S3FileKeys.page(of: blob, at: 42, size: 7) == "files/7/feedback/demo/17/Output.txt!0000000000000000042-7")
        for (key, part) in [
            (S3FileKeys.mark(blob), S3FileKeys.Part.mark), (S3FileKeys.whole(blob), .whole),
            (S3FileKeys.page(of: blob, at: .max, size: 1), .page(offset: .max)),
        ] {
            let read = try #require(S3FileKeys.read(key))
            #expect(read.blob == blob)
            #expect(read.part == part)
        }
    }

    @Test(
        "what is no key of a file is none",
        arguments: [
            "objects/1", "files/", "files/7/feedback/a", "files/x/feedback/a!-", "files/7/a/b!-", "files/7/feedback/!-",
            "files/7/feedback/a!", "files/7/feedback/a!x-1", "files/7/feedback/a!-1-1", "files/7/feedback/a!1-1-1",
            "files/7/feedback/../a!-",
        ])
    func unknown(key: String) { #expect(S3FileKeys.read(key) == nil) }

    @Test("keys are in the order of names")
    func order() throws {
        let names = ["a", "a(1)", "a+", "a,b", "a-1", "a.txt", "a/b", "a0", "aa", "a~"]
        let keys = try names.flatMap { name in
            let blob = try Self.blob(name)
            return [S3FileKeys.mark(blob), S3FileKeys.whole(blob), S3FileKeys.page(of: blob, at: 0, size: 1)]
        }
        #expect(keys == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for name in names {
            let blob = try Self.blob(name)
            let end = S3FileKeys.end(of: blob.name, in: blob.container, of: blob.hub)
            for key in keys { #expect((key < end) == (try #require(S3FileKeys.read(key)).blob.name <= blob.name)) }
        }
    }

    /// Runs as `offset+count of size`, for a file with these pages, and `w` for what was uploaded.
    private func runs(whole: Int64? = nil, _ pages: [(Int64, Int64)]) throws -> [String] {
        var file = S3StoredFile(try Self.blob("a"))
        let now = Timestamp(seconds: 1)
        if let whole { file.add(S3Entry(key: "w", size: whole, writtenAt: now), .whole) }
        for (offset, size) in pages { file.add(S3Entry(key: "p", size: size, writtenAt: now), .page(offset: offset)) }
        return file.runs.map { run in
            "\(run.range.lowerBound)+\(run.range.count) of \(run.piece.isWhole ? "w" : "")\(run.piece.size)"
        }
    }

    @Test(
        "each byte comes from one object: a page before an upload, the page that begins later before the other, nothing after a gap"
    )
    func overlay() throws {
        #expect(try runs([]).isEmpty)
        #expect(try runs(whole: 0, []).isEmpty)
        #expect(try runs([(0, 3), (3, 4)]) == ["0+3 of 3", "3+4 of 4"])
        #expect(try runs([(1, 3)]).isEmpty)
        #expect(try runs([(0, 3), (4, 4)]) == ["0+3 of 3"])
        #expect(try runs([(0, 60), (0, 10)]) == ["0+10 of 10", "10+50 of 60"])
        #expect(try runs([(0, 10), (0, 60)]) == ["0+10 of 10", "10+50 of 60"])
        #expect(try runs(whole: 5, [(0, 9)]) == ["0+9 of 9"])
        #expect(try runs(whole: 20, [(5, 5), (7, 2)]) == ["0+5 of w20", "5+2 of 5", "7+2 of 2", "9+1 of 5", "10+10 of w20"])
        #expect(try runs(whole: 4, [(4, 2), (2, 4)]) == ["0+2 of w4", "2+2 of 4", "4+2 of 2"])
    }
}
