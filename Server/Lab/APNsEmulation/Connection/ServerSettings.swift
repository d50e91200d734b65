import NIOCore
import NIOHTTP2

/// The SETTINGS of Apple's servers (Reference/APNs.md#1-4), and how they pass an HTTP/2 library that enforces limits harder.
///
/// The library ends the whole connection when a client opens too many streams or sends too many headers, while here only the stream
/// is refused. So the library is told limits that nobody reaches, as further entries at the end of every frame that holds such a
/// limit, and `ServerSettingsFilter` takes those off again on the way out. The connection enforces the real limits itself.
enum ServerSettings {
    static let windowSize = 65_535
    /// MAX_HEADER_LIST_SIZE: names, values and 32 bytes a field.
    static let headerListSize = 8_000
    static let unreachableStreams = 0x7fff_ffff
    static let unreachableHeaderListSize = 1 << 20
    /// The entries that only the library sees, as identifier and value.
    static let hidden: [(identifier: UInt16, value: UInt32)] = [
        (3, UInt32(unreachableStreams)), (6, UInt32(unreachableHeaderListSize)),
    ]

    /// The first frame.
    static func initial(_ rules: EmulationRules) -> HTTP2Settings {
        [
            HTTP2Setting(parameter: .headerTableSize, value: rules.headerTableSize),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: rules.firstConcurrentStreams),
            HTTP2Setting(parameter: .initialWindowSize, value: rules.initialWindowSize),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerListSize),
            HTTP2Setting(parameter: .maxHeaderListSize, value: unreachableHeaderListSize),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: unreachableStreams),
        ]
    }

    /// A later frame.
    static func update(_ change: SettingsChange) -> HTTP2Settings {
        var settings: HTTP2Settings = []
        if let size = change.initialWindowSize { settings.append(HTTP2Setting(parameter: .initialWindowSize, value: size)) }
        if let size = change.maximumFrameSize { settings.append(HTTP2Setting(parameter: .maxFrameSize, value: size)) }
        if let streams = change.streams {
            settings.append(HTTP2Setting(parameter: .maxConcurrentStreams, value: streams))
            settings.append(HTTP2Setting(parameter: .maxConcurrentStreams, value: unreachableStreams))
        }
        return settings
    }
}
