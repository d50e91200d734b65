import Foundation

/// A new place for a phone's files, in memory where the system has such a place: every record is written through to the disk, and
/// hundreds of phones write tens of thousands.
enum QuickFolder {
    private static let root: URL = {
        let memory = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    }()

    static func new(_ name: String) -> URL { root.appendingPathComponent("clarion-\(name)-\(UUID().uuidString)") }
}
