import AppBackend
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A new folder for what is stored about one person: `records.jsonl` and their contents. For its owner's eyes alone.
public struct ExportFolder: Sendable {
    private let path: String

    /// Creates the folder. Throws when there is something of this name already: an export is never mixed with another.
    public init(path: String) throws {
        self.path = path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ServiceError(.conflict, "\(path) exists already; name a new folder")
        }
        try NodeStorage.makeDirectory(path)
    }

    /// Adds a line to the records.
    public func write(line: String) throws { try append(Array((line + "\n").utf8), to: "records.jsonl") }

    /// Writes a content under its id and its own cleaned name.
    func write(_ content: ReadableContent, id: String, fileName: String?) async throws {
        let name = [id, fileName].compactMap { $0 }.joined(separator: "-")
        for try await chunk in content.read() { try append(chunk, to: name) }
    }

    private func append(_ bytes: [UInt8], to name: String) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ServiceError(.storageUnavailable, "\(path)/\(name) cannot be written") }
        defer { _ = close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ServiceError(.storageUnavailable, "\(path)/\(name) cannot be written") }
            rest = rest.dropFirst(count)
        }
    }
}

/// The system call, outside the type whose methods have the same name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
