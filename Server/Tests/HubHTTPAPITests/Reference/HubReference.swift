import Foundation
import HTTPTypes
import HubProtocol
import HummingbirdTesting
import Testing

@testable import BackendHTTPAPI

/// What `Documentation/hub-openapi.yaml` says, for the tests that compare it with the server.
enum HubReference {
    /// One method of one path.
    struct Operation: Sendable {
        var path: String
        var method: String
        var id: String
        /// The rights of which one is needed.
        var rights: Set<String>
        var takesBody: Bool
        /// The media types of each status.
        var answers: [Int: Set<String>]

        /// The operation of the server that it describes. A path that is answered the same has an id of its own.
        var described: HubOperation? { HubOperation(rawValue: id == "hubResources" ? "hubs" : id) }

        /// A path of this operation as a client asks for it.
        var sample: String {
            path.replacing("{hub}", with: "demo").replacing("{id}", with: "7").replacing("{tag}", with: "7")
        }
    }

    static let methods = ["get", "put", "post", "patch", "delete"]

    /// Every operation; none when the file cannot be read, which a test would notice.
    static let operations: [Operation] = (try? read()) ?? []

    /// The whole description.
    static func document() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: json.get()) as? [String: Any])
    }

    /// Read once: it takes longer than every test that asks for it.
    private static let json: Result<Data, any Error> = Result {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let bytes = Array(try Data(contentsOf: root.appending(path: "Documentation/hub-openapi.yaml")))
        return Data(APIDescription.json(of: bytes).utf8)
    }

    /// What a value stands for: itself, or what its `$ref` leads to.
    static func resolved(_ value: Any?, in document: [String: Any]) -> [String: Any] {
        guard let object = value as? [String: Any] else { return [:] }
        guard let reference = object["$ref"] as? String else { return object }
        return reference.split(separator: "/").dropFirst().reduce(document) { place, step in
            place[String(step)] as? [String: Any] ?? [:]
        }
    }

    /// The value at a place, such as `components.schemas.Error`.
    static func value(_ place: String, in document: [String: Any]) -> Any? {
        place.split(separator: ".").reduce(document as Any?) { object, step in (object as? [String: Any])?[String(step)] }
    }

    /// Notes an issue when a hub gave an answer to its protocol that the description does not have.
    static func expect(_ answer: TestResponse, to method: HTTPRequest.Method, _ target: String) {
        let path = target.prefix { $0 != "?" }
        let method = method == .head ? "GET" : method.rawValue
        guard case .route(let route) = HubRoute.match(method: method, path: path) else { return }
        let type = answer.headers[.contentType].map { String($0.prefix { $0 != ";" }) }
        // Below the names that no hub can have, and for a browser at the root, it is not the protocol that answers.
        if type == "application/problem+json" || type == "text/html" { return }
        let described = operations.filter { $0.described == route.operation }.map(\.answers)
        let isKnown = described.contains { answers in
            answers[answer.status.code].map { types in type.map(types.contains) ?? true } ?? false
        }
        #expect(isKnown, "\(method) \(path): \(answer.status.code) \(type ?? "")")
    }

    private static func read() throws -> [Operation] {
        let document = try document()
        let paths = document["paths"] as? [String: [String: Any]] ?? [:]
        return paths.flatMap { path, item in
            methods.compactMap { method in
                (item[method] as? [String: Any]).map { operation(path, method.uppercased(), $0, document) }
            }
        }
    }

    private static func operation(
        _ path: String, _ method: String, _ object: [String: Any], _ document: [String: Any]
    ) -> Operation {
        let security = (object["security"] ?? document["security"]) as? [[String: [String]]] ?? []
        let answers = (object["responses"] as? [String: Any] ?? [:]).map { status, answer in
            (Int(status) ?? 0, Set((resolved(answer, in: document)["content"] as? [String: Any] ?? [:]).keys))
        }
        return Operation(
            path: path, method: method, id: object["operationId"] as? String ?? "",
            rights: Set(security.flatMap { $0["sharedAccessSignature"] ?? [] }), takesBody: object["requestBody"] != nil,
            answers: Dictionary(answers) { first, _ in first })
    }
}
