import AppBackend
import Foundation
import LongWork
import Testing

@testable import ContentStorage
@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

/// Contents on their way from one store into another.
struct ContentMoveTests {
    private func store(_ bytes: [UInt8], in store: any ContentStore) async throws {
        let upload = try await store.beginUpload(limit: 100)
        try await upload.write(bytes)
        _ = try await upload.finish()
    }

    @Test("the progress of a move counts every content, whether it has to be copied or is there already")
    func progress() async throws {
        try await TemporaryFolder.use { folder in
            let old = try DiskContentStore(root: folder + "/old")
            let new = try DiskContentStore(root: folder + "/new")
            for number in UInt8(1)...5 { try await store([number], in: old) }
            try await store([3], in: new)
            let progress = WorkProgress()
            let moved = try await ContentAdministration.copy(from: old, to: new, progress)
            #expect(moved == (seen: 5, copied: 4))
            #expect(progress.line?.hasPrefix("copying contents: 100 %, 5 of 5 contents") == true, "\(progress.line ?? "none")")
        }
    }
}
