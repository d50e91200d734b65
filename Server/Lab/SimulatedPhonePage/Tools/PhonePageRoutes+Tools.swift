import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

/// The tools beside the phones:
///
/// - `GET /phone/samples` and `GET /phone/samples/{kind}`: what can be sent without looking for a file;
/// - `GET /phone/{phone}/target`: where a push to it goes;
/// - `POST /phone/{phone}/pushes`: sends one by hand; `POST /phone/{phone}/pushes/review` says what is wrong with it and sends
///   nothing;
/// - `POST /phone/notifications`: seals a notification and sends it; the answer warns of users who cannot open it;
/// - `GET` and `PUT /phone/{phone}/faults`: what goes wrong for it; `DELETE /phone/{phone}/token`: its device token is dead.
extension PhonePageRoutes {
    /// A body that is far too large is read too, so that APNs can refuse it.
    private static let pushLimit = 128 << 10
    /// A content of 8 MB, in Base64.
    private static let sealedLimit = 12 << 20

    func addToolRoutes(to group: RouterGroup<ServiceRequestContext>) {
        guard let tools else { return }
        group.get("samples") { _, _ in try Response.json(tools.samples.map(SampleDocument.init)) }
        group.get("samples/:kind") { _, context in
            let kind = try context.parameters.require("kind")
            guard let sample = tools.samples.first(where: { $0.kind.rawValue == kind }) else {
                throw ServiceError(.notFound, "there is no sample of this kind")
            }
            let headers: HTTPFields = [.contentType: sample.mediaType, .cacheControl: "no-cache"]
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: sample.bytes)))
        }
        group.get(":phone/target") { _, context in try Response.json(try await tools.target(of: try await id(context))) }
        group.post(":phone/pushes") { request, context in
            let phone = try await id(context)
            return try Response.json(try await tools.send(try await Self.push(in: request), to: phone))
        }
        group.post(":phone/pushes/review") { request, context in
            let topic = try await tools.target(of: try await id(context)).topic
            return try Response.json(HandPushReview(push: try await Self.push(in: request), bundleID: topic).findings)
        }
        group.post("notifications") { request, _ in
            let draft = try await request.readJSON(
                SealedDraft.self, known: SealedDraft.fields, limits: JSONLimits(byteCount: Self.sealedLimit))
            return try Response.json(try await tools.send(draft), status: .created)
        }
        group.get(":phone/faults") { _, context in try Response.json(await tools.faults(of: try await id(context))) }
        group.put(":phone/faults") { request, context in
            let faults = try await request.readJSON(PhoneFaults.self, known: PhoneFaults.fields)
            try await tools.set(faults, of: try await id(context))
            return Response(status: .noContent)
        }
        group.delete(":phone/token") { _, context in
            try await tools.retireToken(of: try await id(context))
            return Response(status: .noContent)
        }
    }

    private struct SampleDocument: Encodable {
        var kind: ContentKind
        var mediaType: String
        var fileName: String
        var altText: String

        init(_ sample: PhoneSample) {
            kind = sample.kind
            mediaType = sample.mediaType
            fileName = sample.fileName
            altText = sample.altText
        }
    }

    private static func push(in request: Request) async throws -> HandPush {
        try await request.readJSON(HandPush.self, known: HandPush.fields, limits: JSONLimits(byteCount: pushLimit))
    }

    private func id(_ context: ServiceRequestContext) async throws -> String { try await phone(context).snapshot.phone.id }
}
