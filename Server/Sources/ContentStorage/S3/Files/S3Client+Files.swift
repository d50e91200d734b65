import NIOCore
import PushHub

extension S3Client {
    /// Calls the body with each file of containers whose keys begin with `start`, in the order of names after `key`, until it says `false`.
    func forEachFile(_ start: String, after key: String? = nil, _ body: (S3StoredFile) async throws -> Bool) async throws {
        var file: S3StoredFile?
        var last = key
        while true {
            let entries = try await list(start, after: last)
            guard let end = entries.last else { break }
            last = end.key
            for entry in entries {
                guard let (blob, part) = S3FileKeys.read(entry.key) else { continue }
                if let complete = file, complete.blob != blob {
                    guard try await body(complete) else { return }
                    file = nil
                }
                file = file ?? S3StoredFile(blob)
                file?.add(entry, part)
            }
        }
        if let file { _ = try await body(file) }
    }

    /// What there is of a file.
    func file(_ blob: BlobReference) async throws -> S3StoredFile {
        var found = S3StoredFile(blob)
        try await forEachFile(S3FileKeys.start(blob)) { file in
            found = file
            return false
        }
        return found
    }

    /// Removes all objects of a file. From the first on nobody finds it any more.
    func delete(_ file: S3StoredFile) async throws {
        for key in file.keys { try await delete(key) }
    }

    /// Stores the first bytes of an object under a key, which may be its own.
    func copyBeginning(of source: String, _ size: Int64, to key: String) async throws {
        guard size > Int64(options.partBytes) else {
            let kept = try await piece(of: source, 0..<size)
            return try await put(kept.bytes, at: key)
        }
        try await copyInParts(source, size, to: key)
    }
}
