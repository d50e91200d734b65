import NIOCore

extension S3ContentStore {
    /// Whose contents lie below the prefix; `nil` while nobody has said so. Throws `storage-unavailable`.
    public func owner() async throws -> S3OwnerMark? {
        try await explained {
            guard let found = try await client.beginning(of: S3Keys.owner, 4096) else { return nil }
            return S3OwnerMark(text: String(buffer: found.bytes))
        }
    }

    /// Says whose contents lie below the prefix, unless somebody said so before: of two that do at the same moment one wins, and both have
    /// to look afterwards who it was. Throws `storage-unavailable`.
    public func claim(_ owner: S3OwnerMark) async throws {
        try await explained {
            for _ in 1...Self.claims {
                do { return try await put(owner, headers: [("If-None-Match", "*")]) } catch let fault as S3Fault {
                    switch fault {
                    // It is there (Amazon S3 user guide, "Conditional writes").
                    case .refused(412, _, _): return
                    // It is just being written, and there only when that has ended.
                    case .refused(409, _, _): try await client.clock.sleep(for: Self.claimPause)
                    // A store that knows no conditions: whoever looks afterwards sees the last writer.
                    case .refused(400, _, _), .refused(501, _, _): return try await put(owner)
                    default: throw fault
                    }
                }
            }
        }
    }

    private static let claims = 5
    private static let claimPause: Duration = .milliseconds(300)

    /// Says whose contents lie below the prefix, whoever it was before. Throws `storage-unavailable`.
    public func replaceOwner(by owner: S3OwnerMark) async throws { try await explained { try await put(owner) } }

    private func put(_ owner: S3OwnerMark, headers: [(name: String, value: String)] = []) async throws {
        try await client.perform(
            S3Client.Request(
                method: "PUT", key: S3Keys.owner, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
                body: ByteBuffer(string: owner.text)))
    }
}
