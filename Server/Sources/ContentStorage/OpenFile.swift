import NIOConcurrencyHelpers
import RichPushModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open file, closed when the last one who holds it lets go. Its calls block.
final class OpenFile: Sendable {
    private let descriptor: Int32
    /// Where the next bytes go. Held while they are written.
    private let end: NIOLockedValueBox<Int64>

    private init(_ descriptor: Int32, at end: Int64 = 0) {
        self.descriptor = descriptor
        self.end = NIOLockedValueBox(end)
    }

    deinit { _ = close(descriptor) }

    /// Opens an existing regular file; `nil` when there is none. Never follows a symbolic link.
    static func reading(_ path: String) throws -> OpenFile? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw FileFault.last("open") }
        return OpenFile(descriptor)
    }

    /// Creates a new file (mode 0600) for writing.
    static func creating(_ path: String) throws -> OpenFile {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFault.last("open") }
        return OpenFile(descriptor)
    }

    /// Opens a file for writing from an offset on, created (mode 0600) if there is none; what is missing before that becomes zeros.
    static func writing(_ path: String, at offset: Int64) throws -> OpenFile {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFault.last("open") }
        return OpenFile(descriptor, at: offset)
    }

    /// Cuts off what lies behind that many bytes; a shorter file stays as it is.
    func cut(to size: Int64) throws {
        guard try self.size() > size else { return }
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileFault.last("ftruncate") }
    }

    func size() throws -> Int64 { Int64(try information().st_size) }

    /// When it was last written.
    func writtenAt() throws -> Timestamp { FileAge.written(try information()) }

    private func information() throws -> stat {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw FileFault.last("fstat") }
        return information
    }

    /// Writes all of the bytes behind those that were written through this file, wherever the file ends by now: of two who write the
    /// same, one that is late changes nothing.
    func write(_ bytes: [UInt8]) throws {
        try end.withLockedValue { end in
            try bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let written = pwrite(descriptor, rest.base(of: buffer), rest.count, off_t(end))
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { throw FileFault.last("pwrite") }
                    rest = rest.dropFirst(written)
                    end += Int64(written)
                }
            }
        }
    }

    /// Exactly `count` bytes from `offset` on.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read >= 0 else { throw FileFault.last("pread") }
                guard read > 0 else { throw FileFault(call: "pread", number: EIO) }
                filled += read
            }
        }
    }

    /// Makes what was written survive a power cut.
    func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw FileFault.last("fsync") }
    }
}

extension Slice where Base == UnsafeRawBufferPointer {
    /// Where the slice begins in memory.
    fileprivate func base(of buffer: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        buffer.baseAddress.map { $0 + startIndex }
    }
}
