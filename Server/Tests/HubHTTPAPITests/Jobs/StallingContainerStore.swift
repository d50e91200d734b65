import NIOConcurrencyHelpers
import PushHub
import RichPushModel

/// Files of a worker that stalls once, after it has opened the second of them or before it opens the first.
struct StallingContainerStore: ContainerStore {
    let base: any ContainerStore
    /// Whether it stalls before it opens the first file.
    let isEarly: Bool
    /// What happens meanwhile.
    let stall: @Sendable () async -> Void
    private let opened = NIOLockedValueBox(0)

    init(base: any ContainerStore, isEarly: Bool = false, stall: @escaping @Sendable () async -> Void) {
        self.base = base
        self.isEarly = isEarly
        self.stall = stall
    }

    func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
        let count = opened.withLockedValue { opened in
            opened += 1
            return opened
        }
        if count == 1, isEarly { await stall() }
        let file = try await base.append(to: blob, at: offset)
        if count == 2, !isEarly { await stall() }
        return file
    }

    func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload { try await base.put(blob, limit: limit) }

    func open(_ blob: BlobReference) async throws -> (any BlobReading)? { try await base.open(blob) }

    func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation] {
        try await base.list(container, of: hub, prefix: prefix, after: name, limit: limit)
    }

    func remove(_ blob: BlobReference) async throws -> Bool { try await base.remove(blob) }

    func sweep(writtenBefore moment: Timestamp) async throws -> Int { try await base.sweep(writtenBefore: moment) }
}
