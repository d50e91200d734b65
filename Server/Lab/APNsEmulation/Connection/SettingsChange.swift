/// SETTINGS in the middle of a connection. What is left out stays as it is.
public struct SettingsChange: Sendable, Hashable {
    /// MAX_CONCURRENT_STREAMS.
    public var streams: Int?
    /// INITIAL_WINDOW_SIZE, which changes open streams too; 0 stops every body.
    public var initialWindowSize: Int?
    /// MAX_FRAME_SIZE; HTTP/2 allows no less than 16,384.
    public var maximumFrameSize: Int?

    /// What MAX_FRAME_SIZE may be here: HTTP/2 would allow 16 MiB.
    public static let frameSizes = 16_384...65_536
    /// What INITIAL_WINDOW_SIZE may be.
    public static let windowSizes = 0...0x7FFF_FFFF

    /// Creates a change; values outside of what is allowed are brought to the nearest that is.
    public init(streams: Int? = nil, initialWindowSize: Int? = nil, maximumFrameSize: Int? = nil) {
        self.streams = streams.map { max(0, $0) }
        self.initialWindowSize = initialWindowSize.map { min(max($0, 0), Self.windowSizes.upperBound) }
        self.maximumFrameSize = maximumFrameSize.map {
            min(max($0, Self.frameSizes.lowerBound), Self.frameSizes.upperBound)
        }
    }
}
