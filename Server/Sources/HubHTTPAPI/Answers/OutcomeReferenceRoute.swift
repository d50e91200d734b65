import Hummingbird
import NIOCore
import PushHub
import RichPushModel

/// `GET /docs/outcomes`: what the outcomes in telemetry mean, for people.
public struct OutcomeReferenceRoute: Sendable {
    static let path = "/docs/outcomes"

    /// Creates the route.
    public init() {}

    /// Adds the route.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get(RouterPath(Self.path)) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/markdown; charset=utf-8", .cacheControl: "max-age=3600"],
                body: .init(byteBuffer: ByteBuffer(string: Self.markdown)))
        }
    }

    private static let markdown: String = {
        let rows = TargetOutcome.allCases.map { "| `\($0.wireName)` | \($0.sentence(reason: nil)). |" }
        let skipped = Platform.known.filter { !$0.hasTransport }.map {
            "| <a id=\"\(anchor($0))\"></a>`\(TargetOutcome.noTransport.wireName)` at \($0.rawValue) | \(skipReason($0)). |"
        }
        return (["# Outcomes of sends", "", "| Outcome | Meaning |", "| --- | --- |"] + rows + skipped).joined(separator: "\n")
            + "\n"
    }()

    /// Where the page tells why pushes to a platform are skipped.
    static func anchor(_ platform: Platform) -> String { "skipped-\(platform.rawValue)" }

    /// Why they are.
    static func skipReason(_ platform: Platform) -> String {
        "This server stores registrations of platform \(platform.rawValue) and has no way yet to send to them"
    }
}
