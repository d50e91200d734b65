import HTTPTypes
import Hummingbird
import WireText

/// All routes of a server with their methods: decides between 404 and 405, names the template for logs and metrics, and is
/// compared with the API description by a test.
public struct RouteTable: Sendable {
    /// One path with the methods it takes.
    public struct Route: Sendable {
        /// For example `/api/v1/notifications/{id}`.
        public let template: String
        /// The methods with a handler of their own.
        public internal(set) var methods: Set<HTTPRequest.Method>
        let path: RouterPath

        /// What an `Allow` header says: `HEAD` comes with `GET`, and `OPTIONS` with everything.
        var allowed: String {
            var names = Set(methods.map(\.rawValue))
            if methods.contains(.get) { names.insert("HEAD") }
            names.insert("OPTIONS")
            return names.sorted().joined(separator: ", ")
        }
    }

    /// What the table says to a request.
    enum Match {
        /// Hand it to the handler of `method`, which may be `GET` for a `HEAD`.
        case handler(template: String, method: HTTPRequest.Method)
        /// Answer with what the path allows.
        case options(template: String, allowed: String)
        case wrongMethod(template: String, allowed: String)
        /// For the routes that match in their own way.
        case own(OwnMatch, method: HTTPRequest.Method)
        case unknown
    }

    /// The routes in the order of their registration.
    public private(set) var routes: [Route] = []
    /// Gets what no other route takes.
    var own: (any OwnRoutes)?
    private var bySegmentCount: [Int: [Int]] = [:]
    private var openEnded: [Int] = []
    /// The literal first segments of all routes: what begins with another word is on none of them.
    private var firstWords: Set<Substring> = []
    private var hasOpenStart = false

    mutating func add(_ path: RouterPath, method: HTTPRequest.Method) {
        if let index = routes.firstIndex(where: { $0.template == path.description }) {
            routes[index].methods.insert(method)
            return
        }
        let index = routes.count
        routes.append(Route(template: path.description, methods: [method], path: path))
        if let first = path.first {
            let word = Substring(first.description)
            if first == word { firstWords.insert(word) } else { hasOpenStart = true }
        }
        if path.contains(.recursiveWildcard) {
            openEnded.append(index)
        } else {
            bySegmentCount[path.count, default: []].append(index)
        }
    }

    func match(path: String, method: HTTPRequest.Method) -> Match {
        guard CanonicalPath.isCanonical(path), let route = route(for: path) else {
            let method = method == .head ? .get : method
            return own?.match(path: path, method: method).map { .own($0, method: method) } ?? .unknown
        }
        if route.methods.contains(method) { return .handler(template: route.template, method: method) }
        if method == .head, route.methods.contains(.get) { return .handler(template: route.template, method: .get) }
        if method == .options { return .options(template: route.template, allowed: route.allowed) }
        return .wrongMethod(template: route.template, allowed: route.allowed)
    }

    /// The most literal route, read from the left, as the router itself chooses.
    private func route(for path: String) -> Route? {
        if !hasOpenStart, path.utf8.count > 1, !firstWords.contains(path.dropFirst().prefix { $0 != "/" }) { return nil }
        let segments = path.split(separator: "/")
        var best: Int?
        for index in bySegmentCount[segments.count] ?? [] where Self.isPrefix(routes[index].path, of: segments) {
            if let found = best, !Self.isMoreLiteral(routes[index].path, than: routes[found].path, segments) { continue }
            best = index
        }
        return (best ?? openEnded.first { Self.isPrefix(routes[$0].path, of: segments) }).map { routes[$0] }
    }

    /// Whether the first of the segments that only one of two paths has as a word is the left one's.
    private static func isMoreLiteral(_ left: RouterPath, than right: RouterPath, _ segments: [Substring]) -> Bool {
        for (elements, segment) in zip(zip(left, right), segments) {
            let isWord = (left: elements.0 == segment, right: elements.1 == segment)
            if isWord.left != isWord.right { return isWord.left }
        }
        return false
    }

    private static func isPrefix(_ path: RouterPath, of segments: [Substring]) -> Bool {
        let fixed = path.prefix { $0 != .recursiveWildcard }
        return fixed.count <= segments.count && zip(fixed, segments).allSatisfy { $0 ~= $1 }
    }
}

/// Routes of a protocol that matches paths in its own way, for example without regard to case: everything else of a
/// `ServiceRouter` (limits, deadline, one log line, metrics) holds for them too.
public protocol OwnRoutes: Sendable {
    /// The route that takes the request; `nil` when none does. `HEAD` is asked for as `GET`.
    func match(path: String, method: HTTPRequest.Method) -> OwnMatch?

    /// Whether a request for a path that has a route is meant for this protocol. For any other the path does not exist.
    func takes(_ request: Request) -> Bool

    /// Answers a request that has a route. `context.ownRoute` is what the match said of it.
    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response

    /// The form of their errors.
    var errorRenderer: any ErrorRenderer { get }

    /// Adds what every answer carries, those to errors included.
    func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext)
}

/// What such routes make of a path.
public struct OwnMatch: Sendable {
    /// For logs and metrics. There must be few templates: each is a label of the metrics.
    public let template: String
    /// What was found out besides, so that it need not be found out twice.
    public let route: (any Sendable)?

    public init(template: String, route: (any Sendable)? = nil) {
        self.template = template
        self.route = route
    }
}

extension OwnRoutes {
    public func takes(_ request: Request) -> Bool { true }

    public func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext) {}
}

/// The one spelling of a path that the server answers to.
///
/// Every other spelling of the same path (a slash more, `.` segments, needless or dangerous escapes) is no path at all. So
/// routing, access rules and logs cannot disagree about what a request asks for (Reference/SecurityCases.md#11).
enum CanonicalPath {
    /// The longest path in bytes.
    static let maximumLength = 2_048

    static func isCanonical(_ path: String) -> Bool {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= maximumLength else { return false }
        guard bytes.count > 1, !isPlainThroughout(bytes.dropFirst()) else { return true }
        return bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(
            isCanonicalSegment)
    }

    /// Whether there is nothing to look at twice: no escape, no empty segment, none that begins with a dot.
    private static func isPlainThroughout(_ bytes: Substring.UTF8View) -> Bool {
        var isAtStart = true
        for byte in bytes {
            if byte == UInt8(ascii: "/") {
                guard !isAtStart else { return false }
                isAtStart = true
            } else {
                guard isPlain(byte), !isAtStart || byte != UInt8(ascii: ".") else { return false }
                isAtStart = false
            }
        }
        return !isAtStart
    }

    private static func isCanonicalSegment(_ segment: Substring.UTF8View) -> Bool {
        guard !segment.isEmpty, !segment.elementsEqual(".".utf8), !segment.elementsEqual("..".utf8) else { return false }
        var decoded: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(Hexadecimal.value), let low = rest.popFirst().flatMap(Hexadecimal.value)
                else {
                    return false
                }
                let value = high << 4 | low
                guard needsEscape(value) else { return false }
                decoded.append(value)
            } else {
                guard isPlain(byte) else { return false }
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self) != nil
    }

    /// Bytes that have no other spelling than an escape, and that no decoder may take for structure.
    private static func needsEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"): false
        default: !isPlain(byte)
        }
    }

    /// The characters of a path segment (RFC 3986, 3.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
            UInt8(ascii: "&"), UInt8(ascii: "'")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
