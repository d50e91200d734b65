import Foundation
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors

/// An open file, closed with the last reference to it. Its calls block.
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

    func writtenAt() throws -> Timestamp { FileAge.written(try information()) }

    private func information() throws -> stat {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw FileFault.last("fstat") }
        return information
    }

    /// Writes the bytes after those written through this object, wherever the file ends now: a late second writer of the same bytes
    /// changes nothing.
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

/// Folders whose entries outlast a loss of power. The calls block.
///
/// `fsync` of a file keeps its bytes and not its name: that is kept by `fsync` of the folder in which the name is.
package enum DurableFolder {
    /// Makes a folder (mode 0700) unless it is there, and keeps its name in the folder above; whether it was made.
    ///
    /// A folder whose name could not be kept is removed again, so that the next caller does not take it for one that is kept.
    @discardableResult
    static func make(_ path: String) throws -> Bool {
        guard mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw FileFault.last("mkdir") }
            return false
        }
        do { try keepEntries(of: parent(of: path)) } catch {
            _ = rmdir(path)
            throw error
        }
        return true
    }

    /// Makes the names in a folder survive a loss of power.
    static func keepEntries(of path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault.last("open") }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFault.last("fsync") }
    }

    /// Writes some bytes into a new file of the folder, waits until they are on the disk, and removes the file. Throws what kept it
    /// from that: a full or read-only disk among others.
    static func tryWrite(in folder: String) throws {
        let path = "\(folder)/probe-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        defer { _ = unlink(path) }
        let file = try OpenFile.creating(path)
        try file.write([UInt8](repeating: 0x2D, count: 4_096))
        try file.synchronize()
    }

    /// The folder in which the name of a file or folder is.
    package static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What is in a folder, without the folder itself and its parent; nothing when there is no folder.
    static func names(in path: String) throws -> [String] {
        guard let directory = opendir(path) else {
            guard errno == ENOENT else { throw FileFault.last("opendir") }
            return []
        }
        defer { _ = closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// When files were last written.
enum FileAge {
    /// The moment in what the system says of a file.
    static func written(_ information: stat) -> Timestamp {
        #if canImport(Darwin)
            let time = information.st_mtimespec
        #else
            let time = information.st_mtim
        #endif
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// A system call on a file that failed. Carries no path of a content: those hold digests, and digests name contents.
struct FileFault: Error, Hashable {
    var call: String
    var number: Int32
    /// The folder of the store that an operator has to repair, when it is known. None below it is named.
    var folder: String?

    /// The fault of the call that failed just now on this thread.
    static func last(_ call: String) -> FileFault { FileFault(call: call, number: errno) }

    /// Names the folder of the store in the faults of `work`.
    @discardableResult
    static func naming<Value>(_ folder: String, _ work: () throws -> Value) throws -> Value {
        do { return try work() } catch let fault as FileFault {
            throw FileFault(call: fault.call, number: fault.number, folder: folder)
        }
    }

    /// The error for the caller.
    var serviceError: ServiceError {
        let isFull = number == ENOSPC || number == EDQUOT
        let sentence = isFull ? "the content store is full" : "the content store cannot be used"
        let place = folder.map { "\($0): " } ?? ""
        return ServiceError(.storageUnavailable, "\(sentence): \(place)\(SystemErrorText.text(number))", retryAfter: 5)
    }
}
