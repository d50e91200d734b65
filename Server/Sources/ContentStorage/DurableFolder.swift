#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Folders whose entries outlast a loss of power. The calls block.
///
/// `fsync` of a file keeps its bytes and not its name: that is kept by `fsync` of the folder in which the name is.
enum DurableFolder {
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
    static func parent(of path: String) -> String {
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
