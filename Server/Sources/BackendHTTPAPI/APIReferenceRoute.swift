import HTTPService
import HTTPTypes
import Hummingbird
import WireText
import Yams

/// The descriptions of the HTTP interfaces, as part of the program:
///
/// - `GET /openapi.yaml`: `Documentation/openapi.yaml`, byte for byte;
/// - `GET /openapi.json`: the same as JSON;
/// - `GET /docs/api`: a page to read it and to try calls, with its files below it;
/// - `GET /openapi-hub.yaml` and `.json`: the same of `Documentation/hub-openapi.yaml`, the hub protocol;
/// - `GET /docs/api/hub`: the page for that one, to read only, because a browser cannot sign such calls.
///
/// They say nothing that the repository does not, so they need no credentials.
public struct APIReferenceRoute: Sendable {
    /// What the root page says in its header `Link` (RFC 8631).
    public static let links =
        #"</openapi.json>; rel="service-desc"; type="application/json", </docs/api>; rel="service-doc"; type="text/html", "#
        + #"</openapi-hub.json>; rel="service-desc"; type="application/json""#

    /// Creates the routes.
    public init() {}

    /// Adds the routes.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/openapi.yaml") { request, _ in Self.backend.yaml.response(to: request) }
        router.get("/openapi.json") { request, _ in Self.backend.json.response(to: request) }
        router.get("/openapi-hub.yaml") { request, _ in Self.hub.yaml.response(to: request) }
        router.get("/openapi-hub.json") { request, _ in Self.hub.json.response(to: request) }
        for (path, file) in Self.page {
            router.get(path) { request, _ in
                file.response(to: request, headers: [.contentSecurityPolicy: Self.contentSecurityPolicy])
            }
        }
    }

    /// Everything comes from this server, nothing inline, and calls go to this server alone; the page is in no frame.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
        "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    // Each is made when it is asked for the first time.
    private static let backend = APIDescription(PackageResources.openapi_yaml)
    private static let hub = APIDescription(PackageResources.hub_openapi_yaml)

    private static let index = EmbeddedFile("text/html; charset=utf-8", PackageResources.index_html)

    private static let page: [(path: RouterPath, file: EmbeddedFile)] = [
        ("/docs/api", index), ("/docs/api/hub", index),
        ("/docs/api/api.css", EmbeddedFile("text/css; charset=utf-8", PackageResources.api_css)),
        ("/docs/api/api.js", EmbeddedFile("text/javascript; charset=utf-8", PackageResources.api_js)),
    ]
}

/// A description in both of its forms.
struct APIDescription: Sendable {
    let yaml: EmbeddedFile
    let json: EmbeddedFile

    init(_ bytes: [UInt8]) {
        yaml = EmbeddedFile("application/yaml", bytes)
        json = EmbeddedFile("application/json", Array(Self.json(of: bytes).utf8))
    }

    /// The description as JSON, its members in the order of the file. A test reads it, so a file that is no YAML never ships.
    static func json(of bytes: [UInt8]) -> String {
        guard let root = try? Yams.compose(yaml: String(decoding: bytes, as: UTF8.self)) else { return "{}" }
        return YAMLNode(node: root).json
    }
}

/// A value of a YAML document that has a form in JSON.
struct YAMLNode {
    let node: Node

    /// One line of JSON. What stands in quotes or as a block is a text, whatever it looks like.
    var json: String {
        switch node {
        case .mapping(let mapping):
            JSONText.object(mapping.map { ($0.key.string ?? "", YAMLNode(node: $0.value).json) })
        case .sequence(let sequence):
            "[\(sequence.map { YAMLNode(node: $0).json }.joined(separator: ","))]"
        case .scalar(let scalar) where scalar.style == .plain || scalar.style == .any: plain(scalar.string)
        case .scalar(let scalar): JSONText.string(scalar.string)
        // The parser has replaced each by what it stands for.
        case .alias: "null"
        }
    }

    private func plain(_ text: String) -> String {
        if node.null != nil { return "null" }
        if let flag = node.bool { return "\(flag)" }
        if let number = node.int { return "\(number)" }
        if let number = node.float, number.isFinite { return "\(number)" }
        return JSONText.string(text)
    }
}
