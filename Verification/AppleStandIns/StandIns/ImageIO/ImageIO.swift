// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code. It decodes nothing: it reads the size out of
// the header of a PNG and notes what it was asked for.
import Dispatch
import Foundation

public typealias CFURL = NSURL
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString

/// Decoded pixels, here only their number. In the strict reading they do not cross to another actor.
public final class CGImage {
    public let width: Int, height: Int
    init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}

public final class CGImageSource {
    let width: Int, height: Int
    init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}

// `nonisolated(unsafe)` is safe for all of these: each is a constant whose text is never changed, and CFString is not marked as such.
nonisolated(unsafe) public let kCGImageSourceShouldCache: CFString = "cache"
nonisolated(unsafe) public let kCGImageSourceShouldCacheImmediately: CFString = "cache-now"
nonisolated(unsafe) public let kCGImageSourceCreateThumbnailFromImageAlways: CFString = "always"
nonisolated(unsafe) public let kCGImageSourceCreateThumbnailWithTransform: CFString = "upright"
nonisolated(unsafe) public let kCGImageSourceThumbnailMaxPixelSize: CFString = "most"
nonisolated(unsafe) public let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
nonisolated(unsafe) public let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
nonisolated(unsafe) public let kCGImagePropertyOrientation: CFString = "Orientation"

public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
    guard let path = url.path, let bytes = FileManager.default.contents(atPath: path),
        bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
    else { return nil }
    let head = [UInt8](bytes.prefix(24))
    guard head.count == 24, head[12..<16].elementsEqual("IHDR".utf8) else { return CGImageSource(width: 4, height: 3) }
    let number = { (start: Int) in head[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
    return CGImageSource(width: number(16), height: number(20))
}

public func CGImageSourceCopyPropertiesAtIndex(_ source: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CFDictionary? {
    [kCGImagePropertyPixelWidth as String: source.width, kCGImagePropertyPixelHeight as String: source.height] as [String: Any]
        as CFDictionary
}

public func CGImageSourceCreateThumbnailAtIndex(_ source: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? {
    let options = options as? [String: Any] ?? [:]
    let longest = max(source.width, source.height)
    let side = min(options[kCGImageSourceThumbnailMaxPixelSize as String] as? Int ?? longest, longest)
    let decodings = FakeDecodings.shared
    decodings.add(.init(width: source.width, height: source.height, side: side, isOnMainThread: FakeDecodings.isOnMainQueue))
    let scale = Double(side) / Double(longest)
    return CGImage(
        width: max(1, Int(Double(source.width) * scale)), height: max(1, Int(Double(source.height) * scale)))
}

/// What was decoded.
///
/// `@unchecked` is safe: what changes is only touched inside the lock.
public final class FakeDecodings: @unchecked Sendable {
    public struct Decoding: Hashable, Sendable {
        /// Of the file.
        public var width: Int, height: Int
        /// The longest side of what came of it.
        public var side: Int
        public var isOnMainThread: Bool
    }

    public static let shared = FakeDecodings()
    private static let mainQueue = DispatchSpecificKey<Bool>()
    /// On Linux the queue identifies the main actor; the thread does not.
    static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueue) == true }

    private init() { DispatchQueue.main.setSpecific(key: Self.mainQueue, value: true) }

    private let lock = NSLock()
    private var all: [Decoding] = []

    func add(_ decoding: Decoding) { lock.withLock { all.append(decoding) } }

    /// Those of files with this width, which a test chooses so that no other test has it.
    public func ofWidth(_ width: Int) -> [Decoding] { lock.withLock { all.filter { $0.width == width } } }
}
