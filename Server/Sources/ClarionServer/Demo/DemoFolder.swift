import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The folder with the state of a demo.
enum DemoFolder {
    /// Marks a folder as ours, so that a typing error in `--directory` cannot remove somebody's files.
    private static let mark = "clarion-demo"

    /// Creates the folder, or empties it first if that was asked for. Throws `ServiceError` for a folder of somebody else.
    static func prepare(_ options: DemoOptions) throws {
        let manager = FileManager.default
        let path = options.directory
        let contents = (try? manager.contentsOfDirectory(atPath: path)) ?? []
        guard contents.isEmpty || contents.contains(mark) else {
            throw ServiceError(.conflict, "\(path) holds files that are not of a demo; choose another --directory")
        }
        if options.startsAfresh, contents.contains(mark) {
            do { try manager.removeItem(atPath: path) } catch {
                throw ServiceError(.storageUnavailable, "\(path) cannot be removed")
            }
        }
        try NodeStorage.makeDirectory(path)
        guard manager.createFile(atPath: path + "/" + mark, contents: Data()) else {
            throw ServiceError(.storageUnavailable, "\(path) cannot be written")
        }
    }
}
