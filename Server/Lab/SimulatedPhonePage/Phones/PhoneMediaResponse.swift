import HTTPService
import Hummingbird
import NIOPosix
import RichPushModel
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The bytes that a phone fetched for a notification, for the elements of the page: whole, in part, or not again.
struct PhoneMediaResponse: Sendable {
    let phone: any PagePhone

    func response(to request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let richID = RichID(try context.parameters.require("richId")) else {
            throw ServiceError(.notFound, "not a rich notification id")
        }
        let notice = try QueryParameters(of: request, allowed: ["notification"])["notification"]
        guard let media = await phone.media(for: richID, attachmentOf: notice), let file = StoredFile(path: media.file.path)
        else {
            throw ServiceError(.notFound, "the phone holds no content of this notification")
        }
        let download = Download(
            mediaType: media.mediaType, size: file.size, entityTag: EntityTag(file.version), fileName: media.fileName)
        return try download.response(to: request, context: context) { range in file.chunks(of: range) }
    }
}

/// A file that is open for reading. It stays readable when the phone deletes it meanwhile.
private final class StoredFile: Sendable {
    private static let chunkSize = 256 << 10

    /// In bytes.
    let size: Int64
    /// Differs when the content does: made of the file's number, size and time of change.
    let version: String
    private let descriptor: CInt

    /// Opens a regular file; `nil` when there is none.
    init?(path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            return nil
        }
        descriptor = opened
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        version = [UInt64(status.st_ino), UInt64(size), UInt64(bitPattern: Int64(changed.tv_sec)), UInt64(changed.tv_nsec)]
            .map { String($0, radix: 36) }.joined(separator: "-")
    }

    deinit { close(descriptor) }

    /// The bytes of `range`, read on a thread that may block, as fast as they are taken.
    func chunks(of range: Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error> {
        let cursor = Cursor(position: range.lowerBound, end: range.upperBound)
        return AsyncThrowingStream { try await cursor.next(of: self) }
    }

    /// Where a reader is.
    private actor Cursor {
        private var position: Int64
        private let end: Int64

        init(position: Int64, end: Int64) {
            self.position = position
            self.end = end
        }

        func next(of file: StoredFile) async throws -> [UInt8]? {
            let (start, count) = (position, Int(min(Int64(StoredFile.chunkSize), end - position)))
            guard count > 0 else { return nil }
            position += Int64(count)
            return try await NIOThreadPool.singleton.runIfActive { try file.read(count, at: start) }
        }
    }

    private func read(_ count: Int, at offset: Int64) throws(ServiceError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let step = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
                if step < 0 && errno == EINTR { continue }
                guard step > 0 else {
                    failed = true
                    return
                }
                filled += step
            }
        }
        if failed { throw ServiceError(.storageUnavailable, "a file of the phone became shorter while it was read") }
        return bytes
    }
}
