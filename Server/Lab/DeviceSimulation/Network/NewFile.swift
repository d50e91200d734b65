import NIOCore
import RichPushDevice

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that did not exist before and that its owner alone may read, written piece by piece.
struct NewFile {
    private let descriptor: CInt

    /// Throws `fileNotWritable` also when the file exists.
    init(_ file: URL) throws(TransportError) {
        descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileNotWritable }
    }

    /// A whole one. What could be written of it is removed when the rest cannot be.
    static func write(_ data: Data, to file: URL) throws(TransportError) {
        let new = try NewFile(file)
        let isWritten = data.withUnsafeBytes(new.write)
        new.close()
        guard isWritten else {
            try? FileManager.default.removeItem(at: file)
            throw .fileNotWritable
        }
    }

    func append(_ buffer: ByteBuffer) throws(TransportError) {
        guard buffer.withUnsafeReadableBytes(write) else { throw .fileNotWritable }
    }

    /// Whether all of it could be written.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Self.write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }
}
