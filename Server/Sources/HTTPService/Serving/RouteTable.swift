import HTTPTypes
import Hummingbird

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
        let exact = (bySegmentCount[segments.count] ?? []).map { routes[$0] }
            .filter { zip($0.path, segments).allSatisfy { $0 ~= $1 } }
        let best = exact.max { left, right in
            Self.literalness(left.path, segments).lexicographicallyPrecedes(Self.literalness(right.path, segments))
        }
        return best ?? openEnded.map { routes[$0] }.first { Self.isPrefix($0.path, of: segments) }
    }

    private static func literalness(_ path: RouterPath, _ segments: [Substring]) -> [Int] {
        zip(path, segments).map { $0 == $1 ? 1 : 0 }
    }

    private static func isPrefix(_ path: RouterPath, of segments: [Substring]) -> Bool {
        let fixed = path.prefix { $0 != .recursiveWildcard }
        return fixed.count <= segments.count && zip(fixed, segments).allSatisfy { $0 ~= $1 }
    }
}
