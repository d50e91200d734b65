import RichPushModel
import WireText

@testable import HubProtocol

extension FuzzedReader {
    @Sendable static func readInstallation(_ bytes: [UInt8]) {
        guard let document = try? InstallationDocument(parsing: bytes) else { return }
        guard let again = try? InstallationDocument(parsing: Array(document.json.utf8)) else {
            precondition(document.json.utf8.count > HubLimits().installationBytes, "an answer cannot be read")
            return
        }
        precondition(again == document, "an answer is read as another installation")
    }

    @Sendable static func readPatch(_ bytes: [UInt8]) {
        guard let patch = try? InstallationPatch(parsing: bytes) else { return }
        let json = Array(patch.json.utf8)
        if json.count <= HubLimits().installationBytes {
            precondition((try? InstallationPatch(parsing: json)) == patch, "a patch is read as another")
        }
        _ = patch.setsChannel
        guard let changed = try? patch.applied(to: installation) else { return }
        let answer = Array(changed.json.utf8)
        guard answer.count <= HubLimits().installationBytes else { return }
        precondition((try? InstallationDocument(parsing: answer)) == changed, "a patched installation is read as another")
    }

    private static let installation: InstallationDocument = {
        let json = #"""
            {"installationId":"i","userId":"u","platform":"apns","pushChannel":"00aa","tags":["a","b"],
            "templates":{"t":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}","tags":["c"]}}}
            """#
        guard let installation = try? InstallationDocument(parsing: Array(json.utf8)) else {
            preconditionFailure("the sample is no installation")
        }
        return installation
    }()

    @Sendable static func readWireJSON(_ bytes: [UInt8]) {
        guard let json = try? WireJSON(parsing: bytes) else { return }
        precondition((try? WireJSON(parsing: Array(json.text.utf8))) == json, "JSON is read as other JSON")
    }

    /// The first line is the content type.
    @Sendable static func readBatch(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let type = input.line()
        guard let batch = try? BatchSendBody(contentType: type, body: input.bytes) else { return }
        precondition(batch.notification.count <= bytes.count, "a part is longer than its body")
        let word = Array("nh-batch-multipart-boundary".utf8)
        guard !batch.notification.indices.contains(where: { batch.notification[$0...].starts(with: word) }),
            batch.contentType?.utf8.count ?? 0 < 900
        else { return }
        let again = try? BatchSendBody(contentType: BatchSendBody.requestContentType, body: batch.encoded)
        precondition(again?.handles == batch.handles && again?.notification == batch.notification, "a batch is read as another")
    }

    /// Fields in lines, then an empty line and the body.
    @Sendable static func readSendHeaders(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var headers = HeaderList()
        while !input.bytes.isEmpty, headers.fields.count < 64 {
            let line = input.line()
            guard !line.isEmpty else { break }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            headers.fields.append(HeaderField(parts[0], parts.count > 1 ? parts[1] : ""))
        }
        _ = try? SendHeaders(headers, body: input.bytes, now: Timestamp(milliseconds: 1_800_000_000_000))
        _ = IfMatch(header: headers["If-Match"])?.version
    }

    /// Method, path and query, in three lines.
    @Sendable static func readAddress(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let (method, path, query) = (input.line(), input.line(), input.text)
        if case .route(let route) = HubRoute.match(method: method, path: path) {
            precondition(route.hub.utf8.count <= path.utf8.count, "a name is longer than its path")
        }
        let parameters = HubQuery(query)
        _ = parameters.apiVersion
        if let list = try? ListQuery(parameters) { _ = list.parameters }
        if let filter = try? RegistrationFilter(query), let again = try? RegistrationFilter(filter.text) {
            precondition(again.handle.values.first == filter.handle.values.first, "a filter is read as another")
        }
        if let token = ContinuationToken(query) {
            precondition(ContinuationToken(position: token.position).text == query, "a token has two spellings")
        }
        guard let time = WireTime(query) else { return }
        precondition(WireTime(time.description) == time, "a time is read as another")
    }
}
