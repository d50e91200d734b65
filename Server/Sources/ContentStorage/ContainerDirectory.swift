import Foundation
import PushHub
import RichPushModel

/// Where the files of containers lie: `{hub number}/{container}/{name}`, the name with `%2F` for each slash, and `incoming/` for
/// uploads under way. Its calls block.
struct ContainerDirectory: Sendable {
    let root: String

    /// Makes the directories, removes uploads that were cut off, and counts the bytes of all files by the
    /// number of their hub.
    func prepare() throws -> [Int64: Int64] {
        for path in [root, incoming] { try FileFault.naming(path) { try DurableFolder.make(path) } }
        for path in [DurableFolder.parent(of: root), root] {
            try FileFault.naming(path) { try DurableFolder.keepEntries(of: path) }
        }
        try FileFault.naming(incoming) {
            for name in try DurableFolder.names(in: incoming) { _ = unlink("\(incoming)/\(name)") }
        }
        return try FileFault.naming(root) { try usedBytes() }
    }

    private func usedBytes() throws -> [Int64: Int64] {
        var used: [Int64: Int64] = [:]
        for (hub, container) in try containers() {
            for name in try DurableFolder.names(in: container) {
                used[hub, default: 0] += try size(of: "\(container)/\(name)") ?? 0
            }
        }
        return used
    }

    func path(_ blob: BlobReference) -> String { "\(folder(blob.container, of: blob.hub))/\(Self.encoded(blob.name.text))" }

    func folder(_ container: ContainerName, of hub: HubID) -> String { "\(root)/\(hub.number)/\(container.text)" }

    func upload() -> String { "\(incoming)/\(RandomName.next())" }

    func makeFolder(_ container: ContainerName, of hub: HubID) throws {
        try DurableFolder.make("\(root)/\(hub.number)")
        try DurableFolder.make(folder(container, of: hub))
    }

    /// Makes the name of a file that was just made outlast a loss of power.
    func keepName(of blob: BlobReference) throws { try DurableFolder.keepEntries(of: folder(blob.container, of: blob.hub)) }

    /// The size of a file, `nil` when there is none.
    func size(of path: String) throws -> Int64? { try information(path).map { Int64($0.st_size) } }

    func files(_ container: ContainerName, of hub: HubID) throws -> [BlobInformation] {
        let folder = folder(container, of: hub)
        return try DurableFolder.names(in: folder).compactMap { file in
            guard let name = BlobName(file.replacing("%2F", with: "/")), let found = try information("\(folder)/\(file)") else {
                return nil
            }
            return BlobInformation(name: name, size: Int64(found.st_size), writtenAt: FileAge.written(found))
        }
    }

    /// Removes a file; its size, or `nil` when there was none.
    func remove(_ path: String) throws -> Int64? {
        let size = try size(of: path)
        guard unlink(path) == 0 else {
            guard errno == ENOENT else { throw FileFault.last("unlink") }
            return nil
        }
        return size ?? 0
    }

    /// Removes what was last written before the moment, and empty folders; how many files went, and how many bytes
    /// of each hub.
    func sweep(writtenBefore moment: Timestamp) throws -> (files: Int, bytes: [Int64: Int64]) {
        var swept = (files: 0, bytes: [Int64: Int64]())
        for (hub, container) in try containers() {
            for name in try DurableFolder.names(in: container) {
                let path = "\(container)/\(name)"
                guard let found = try information(path), FileAge.written(found) < moment else { continue }
                if let size = try remove(path) {
                    swept.files += 1
                    swept.bytes[hub, default: 0] += size
                }
            }
            // Fails for a folder in which something lies, as it should.
            _ = rmdir(container)
        }
        return swept
    }

    private var incoming: String { "\(root)/incoming" }

    /// The folders of all containers with the numbers of their hubs.
    private func containers() throws -> [(hub: Int64, folder: String)] {
        var folders: [(hub: Int64, folder: String)] = []
        for hub in try DurableFolder.names(in: root) {
            guard let number = Int64(hub) else { continue }
            for name in try DurableFolder.names(in: "\(root)/\(hub)") where ContainerName(name) != nil {
                folders.append((number, "\(root)/\(hub)/\(name)"))
            }
        }
        return folders
    }

    private func information(_ path: String) throws -> stat? {
        var information = stat()
        guard lstat(path, &information) == 0 else {
            guard errno == ENOENT else { throw FileFault.last("lstat") }
            return nil
        }
        return information.st_mode & S_IFMT == S_IFREG ? information : nil
    }

    /// No name has a percent sign of its own.
    private static func encoded(_ name: String) -> String { name.replacing("/", with: "%2F") }
}
