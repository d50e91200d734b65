import AppBackend
import NIOPosix

/// A content that is being read. The open file keeps the bytes even when they are removed meanwhile.
struct DiskContentReader: ContentReader {
    let file: OpenFile
    let size: Int64
    let threads: NIOThreadPool

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await threads.storing { try file.read(at: offset, count: count) }
    }
}
