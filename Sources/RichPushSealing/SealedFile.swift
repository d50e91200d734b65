#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that is read or written from its beginning to its end.
final class SealedFile {
    private var handle: UnsafeMutablePointer<FILE>?

    init?(reading file: URL, from offset: Int) {
        guard let handle = fopen(file.path, "rb") else { return nil }
        self.handle = handle
        guard fseek(handle, offset, SEEK_SET) == 0 else { return nil }
    }

    init?(writing file: URL) {
        guard let handle = fopen(file.path, "wb") else { return nil }
        self.handle = handle
    }

    deinit { if let handle { fclose(handle) } }

    /// At most so many bytes; fewer only at the end.
    func read(_ count: Int) throws(SealingError) -> Data {
        guard let handle else { throw .file }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = fread(&bytes, 1, count, handle)
        guard ferror(handle) == 0 else { throw .file }
        return Data(bytes[..<read])
    }

    func write(_ data: Data) throws(SealingError) {
        guard let handle else { throw .file }
        let bytes = [UInt8](data)
        guard fwrite(bytes, 1, bytes.count, handle) == bytes.count else { throw .file }
    }

    func close() throws(SealingError) {
        guard let open = handle else { throw .file }
        handle = nil
        guard fclose(open) == 0 else { throw .file }
    }
}
