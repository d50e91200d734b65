import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// What holds of files that jobs write.
extension ContainerStorePromises {
    static let startsEmpty = StoragePromise<ContainerPlace>("a file that is opened to grow is there, without bytes, and stays") {
        place in
        let store = try await place.open(1 << 20)
        let file = try await store.append(to: try blob("out"), at: 0)
        #expect(try await text(try blob("out"), in: store)?.isEmpty == true)
        try await file.write(Array("lost".utf8))
        try await file.cut(to: 0)
        #expect(try await text(try blob("out"), in: store)?.isEmpty == true)
        try await put("uploaded", try blob("in"), in: store)
        try await store.append(to: try blob("in"), at: 0).cut(to: 0)
        #expect(try await text(try blob("in"), in: store)?.isEmpty == true)
        #expect(try await store.remove(try blob("out")))
        #expect(try await store.open(try blob("out")) == nil)
    }

    static let goesOn = StoragePromise<ContainerPlace>(
        "a file that is opened at an offset is written from there on, and cut where it ends"
    ) { place in
        let store = try await place.open(1 << 20)
        try await append(["committed, lost"], to: try blob("out"), at: 0, in: store)
        let second = try await store.append(to: try blob("out"), at: 9)
        #expect(try await text(try blob("out"), in: store) == "committed, lost", "opening alone changes nothing")
        try await second.cut(to: 9)
        try await second.write(Array("!".utf8))
        try await second.cut(to: 10)
        #expect(try await text(try blob("out"), in: store) == "committed!")
        try await put("an upload", try blob("in"), in: store)
        try await append([" that", " goes on"], to: try blob("in"), at: 9, in: store)
        #expect(try await text(try blob("in"), in: store) == "an upload that goes on")
        try await put("a new one", try blob("in"), in: store)
        #expect(try await text(try blob("in"), in: store) == "a new one")
    }

    static let bearsRepeats = StoragePromise<ContainerPlace>(
        "bytes that are written again where they are, in the same pages or others, change nothing"
    ) { place in
        let store = try await place.open(1 << 20)
        let out = try blob("out")
        try await append(["first,", "second,", "third"], to: out, at: 0, in: store)
        for (pages, offset) in [(["second,", "third"], 6), (["st,sec"], 3), (["first,second,third"], 0), (["d"], 17)] {
            try await append(pages, to: out, at: Int64(offset), in: store)
            #expect(try await text(out, in: store) == "first,second,third")
        }
        try await append(["."], to: out, at: 18, in: try await place.open(1 << 20))
        #expect(try await text(out, in: store) == "first,second,third.")
        try await store.append(to: out, at: 0).cut(to: 8)
        #expect(try await text(out, in: store) == "first,se")
    }

    static let bearsTheLate = StoragePromise<ContainerPlace>(
        "of two who write the same at the same place, one that is late changes nothing"
    ) {
        place in
        let store = try await place.open(1 << 20)
        let out = try blob("out")
        let slow = try await store.append(to: out, at: 0)
        let successor = try await append(["first,", "second,", "third"], to: out, at: 0, in: store)
        try await successor.cut(to: 18)
        try await slow.write(Array("first,".utf8))
        try await slow.synchronize()
        #expect(try await text(out, in: store) == "first,second,third")
        try await successor.cut(to: 6)
        #expect(try await text(out, in: store) == "first,")
    }

    static let bearsTheLateOpener = StoragePromise<ContainerPlace>(
        "any number may open a file at once, and what one writes stays"
    ) { place in
        let store = try await place.open(1 << 20)
        let out = try blob("out")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try await append(["one,", "two,", "three"], to: out, at: 0, in: store) }
            }
            try await group.waitForAll()
        }
        #expect(try await text(out, in: store) == "one,two,three")
    }

    static let lists = StoragePromise<ContainerPlace>("lists are in order, by prefix and in pages") { place in
        let store = try await place.open(1 << 20)
        for name in ["b", "a/2", "a/1", "c", "a", "a-1", "a(1)"] { try await put("x", try blob(name), in: store) }
        let box = try #require(ContainerName("box"))
        func names(_ prefix: String, after: String? = nil, limit: Int = 9) async throws -> [String] {
            try await store.list(box, of: HubID(1), prefix: prefix, after: after.flatMap(BlobName.init), limit: limit)
                .map(\.name.text)
        }
        let all = ["a", "a(1)", "a-1", "a/1", "a/2", "b", "c"]
        #expect(try await names("") == all)
        for (index, name) in all.enumerated() { #expect(try await names("", after: name) == Array(all[(index + 1)...])) }
        #expect(try await names("a/") == ["a/1", "a/2"])
        #expect(try await names("a") == Array(all[..<5]))
        #expect(try await names("a/1") == ["a/1"])
        #expect(try await names("", after: "a/1", limit: 2) == ["a/2", "b"])
        #expect(try await names("", after: "zz").isEmpty)
        for odd in ["a!", "a//", "/", "..", "é", "\u{1}", String(repeating: "a", count: 201)] {
            #expect(try await names(odd).isEmpty)
        }
        #expect(try await store.list(box, of: HubID(2), prefix: "", after: nil, limit: 9).isEmpty)
        #expect(try await store.remove(try blob("b")))
        #expect(try await names("", after: "a/2") == ["c"])
    }

    static let listsGrown = StoragePromise<ContainerPlace>("a file that grew is one line of a list, with its size and age") {
        place in
        let store = try await place.open(1 << 20)
        try await append(Array(repeating: "page", count: 30), to: try blob("out/1"), at: 0, in: store)
        _ = try await store.append(to: try blob("out/2"), at: 0)
        try await put("x", try blob("out/3"), in: store)
        let box = try #require(ContainerName("box"))
        let found = try await store.list(box, of: HubID(1), prefix: "out/", after: nil, limit: 3)
        #expect(found.map(\.name.text) == ["out/1", "out/2", "out/3"] && found.map(\.size) == [120, 0, 1])
        #expect(try await store.open(try blob("out/1"))?.writtenAt == found.first?.writtenAt)
        #expect(try await store.list(box, of: HubID(1), prefix: "out/", after: BlobName("out/1"), limit: 1).map(\.size) == [0])
    }

    static let sweeps = StoragePromise<ContainerPlace>("a sweep removes what is old, whole and grown, and its room is free then")
    { place in
        let store = try await place.open(20)
        try await put("12345", try blob("a"), in: store)
        try await append(["123", "45"], to: try blob("b"), at: 0, in: store)
        #expect(try await store.sweep(writtenBefore: Timestamp(seconds: 1)) == 0)
        #expect(try await text(try blob("b"), in: store) == "12345")
        let written = try #require(try await store.open(try blob("b"))).writtenAt
        #expect(try await store.sweep(writtenBefore: written + .seconds(2)) == 2)
        for name in ["a", "b"] { #expect(try await store.open(try blob(name)) == nil) }
        try await put("1234567890", try blob("c"), in: store)
        #expect(try await store.sweep(writtenBefore: written) == 0)
    }

    /// Uploads, growth, repeats, cuts and removals by chance, beside files in memory.
    static let agreesWithMemory = StoragePromise<ContainerPlace>(
        "any order of writes, repeats, cuts and removals ends as in memory"
    ) { place in
        var generator = SeededGenerator()
        let stores = [try await place.open(1 << 20), try await place.open(1 << 20)]
        let names = ["a", "a/b", "b"]
        var memory: [String: [UInt8]] = [:]
        func bytes(_ most: Int) -> [UInt8] {
            (0..<Int.random(in: 0...most, using: &generator)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for step in 0..<120 {
            let store = stores[step % 2]
            let name = names[Int.random(in: 0..<names.count, using: &generator)]
            let (blob, old) = (try blob(name), memory[name] ?? [])
            let offset = Int.random(in: 0...old.count, using: &generator)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0:
                let upload = try await store.put(blob, limit: .max)
                let new = bytes(200)
                try await upload.write(new)
                try await upload.finish()
                memory[name] = new
            case 1, 2:
                let file = try await store.append(to: blob, at: Int64(old.count))
                memory[name] = old
                for _ in 0..<3 {
                    let page = bytes(60)
                    try await file.write(page)
                    memory[name, default: []] += page
                }
            case 3 where memory[name] != nil:
                let end = Int.random(in: offset...old.count, using: &generator)
                try await store.append(to: blob, at: Int64(offset)).write(Array(old[offset..<end]))
            case 4 where memory[name] != nil:
                try await store.append(to: blob, at: 0).cut(to: Int64(offset))
                memory[name] = Array(old[..<offset])
            case 5 where step % 3 == 0:
                #expect(try await store.remove(blob) == (memory[name] != nil), "seed \(generator.seed), step \(step)")
                memory[name] = nil
            default:
                let file = try await store.open(blob)
                #expect(file?.size == memory[name].map { Int64($0.count) }, "seed \(generator.seed), step \(step)")
                let read = try await file?.read(at: Int64(offset), count: old.count - offset)
                #expect(read == memory[name].map { Array($0[offset...]) }, "seed \(generator.seed), step \(step)")
            }
        }
        let listed = try await stores[0].list(try blob("a").container, of: HubID(1), prefix: "", after: nil, limit: 9)
        #expect(
            listed.map { [$0.name.text, "\($0.size)"] }
                == memory.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value.count)"] },
            "seed \(generator.seed)")
    }
}
