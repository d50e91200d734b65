import RichPushModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The story as a file of JSON lines. A step that cannot be written is left out: a log never stops a phone.
final class StoryFile: Sendable {
    /// The file begins anew when it would become larger; one before it is kept beside it.
    static let limit = 16 << 20

    private let file: URL
    private let size: Mutex<Int>

    init(_ file: URL) {
        self.file = file
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        size = Mutex((attributes?[.size] as? Int) ?? 0)
    }

    func append(_ step: StoryStep) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(step) + Data("\n".utf8) else { return }
        size.withLock { size in
            if size + line.count > Self.limit {
                let before = file.appendingPathExtension("before")
                try? FileManager.default.removeItem(at: before)
                try? FileManager.default.moveItem(at: file, to: before)
                size = 0
            }
            guard let handle = fopen(file.path, "ae") else { return }
            defer { fclose(handle) }
            size += line.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, handle) }
        }
    }
}
