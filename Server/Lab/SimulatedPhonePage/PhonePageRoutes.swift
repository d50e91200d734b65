import ConsolePage
import DeviceSimulation
import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

/// The web page of the simulated phones, and what it talks to:
///
/// - `GET /phone` and `GET /phone/{phone}`: the page with all phones, or with one alone;
/// - `GET /phone/assets/{file}`: its files, embedded in the program;
/// - `GET /phone-worker.js`: the service worker with which it makes the browser a device too;
/// - `GET /phone/phones`: which phones there are;
/// - `GET /phone/events` and `GET /phone/{phone}/events`: snapshots and story as server-sent events, of all phones or of one;
/// - `POST /phone/{phone}/actions`: a user action, as JSON;
/// - `GET /phone/{phone}/media/{richId}`: the bytes that the phone fetched;
/// - the tools beside the phones, see `addToolRoutes`.
///
/// Every client of these routes controls the phones, so they belong on a loopback listener; requests from pages of other sites
/// are refused.
public struct PhonePageRoutes: Sendable {
    private let phones: [any PagePhone]
    private let clock: any ServiceClock
    private let assets = PhonePageAssets()
    let tools: (any PhoneTools)?
    /// Identifies this process to the browser, since the story starts anew with each process.
    private let epoch: String

    /// Creates the routes for `phones`, in the order in which the page lists them; their ids must differ, and `phones`, `events`,
    /// `assets`, `samples` and `notifications` are none.
    public init(phones: [any PagePhone], tools: (any PhoneTools)? = nil, clock: any ServiceClock) {
        self.phones = phones
        self.tools = tools
        self.clock = clock
        epoch = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Adds the routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        PhoneWorkerRoute().addRoute(to: router)
        let group = router.group("phone").add(middleware: CrossSiteGuard())
        group.get { request, context in try assets.page(for: request, context: context) }
        group.get("assets/:file") { request, context in
            try assets.asset(named: try context.parameters.require("file"), for: request, context: context)
        }
        group.get("phones") { _, _ in try await list() }
        group.get("events") { request, _ in stream(of: phones).response(to: request) }
        group.get(":phone") { request, context in
            _ = try await phone(context)
            return try assets.page(for: request, context: context)
        }
        group.get(":phone/events") { request, context in stream(of: [try await phone(context)]).response(to: request) }
        group.post(":phone/actions") { request, context in
            let phone = try await phone(context)
            return try await perform(try await Self.action(in: request), on: phone)
        }
        group.get(":phone/media/:richId") { request, context in
            try await PhoneMediaResponse(phone: try await phone(context)).response(to: request, context: context)
        }
        addToolRoutes(to: group)
    }

    private func stream(of phones: [any PagePhone]) -> PhoneEventStream {
        PhoneEventStream(phones: phones, clock: clock, epoch: epoch)
    }

    private func list() async throws -> Response {
        var identities: [PhoneSnapshot.Identity] = []
        for phone in phones { identities.append(await phone.snapshot.phone) }
        return try .json(identities)
    }

    func phone(_ context: ServiceRequestContext) async throws -> any PagePhone {
        let id = try context.parameters.require("phone")
        for phone in phones where await phone.snapshot.phone.id == id { return phone }
        throw ServiceError(.notFound, "no simulated phone has this id")
    }

    private func perform(_ action: PhoneAction, on phone: any PagePhone) async throws -> Response {
        do throws(PhoneActionError) {
            try await phone.perform(action)
        } catch {
            throw ServiceError(.conflict, error.sentence)
        }
        return Response(status: .noContent)
    }

    /// The largest action: a message of the greatest length with room for its escapes.
    private static let actionLimit = 64 << 10

    /// Only the name, to distinguish an unknown action from a wrong parameter.
    private struct Named: Decodable { var name: String }

    private static func action(in request: Request) async throws -> PhoneAction {
        let bytes = try await request.jsonBytes(limits: JSONLimits(byteCount: actionLimit))
        let name = try JSONFields.decode(Named.self, from: bytes).name
        guard PhoneAction.Name(rawValue: name) != nil else {
            let known = PhoneAction.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServiceError(.invalidField, "field 'name': not an action; the actions are \(known)")
        }
        return try JSONFields.decode(PhoneAction.self, from: bytes)
    }

    // MARK: The tools beside the phones:
    //
    // - `GET /phone/samples` and `GET /phone/samples/{kind}`: what can be sent without looking for a file;
    // - `GET /phone/{phone}/target`: where a push to it goes;
    // - `POST /phone/{phone}/pushes`: sends one by hand; `POST /phone/{phone}/pushes/review` says what is wrong with it and sends
    //   nothing;
    // - `POST /phone/notifications`: seals a notification and sends it; the answer warns of users who cannot open it;
    // - `GET` and `PUT /phone/{phone}/faults`: what goes wrong for it; `DELETE /phone/{phone}/token`: its device token is dead.

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

/// The files of the page, embedded in the program.
private struct PhonePageAssets: Sendable {
    private let index = EmbeddedFile("text/html; charset=utf-8", PackageResources.index_html)
    private let assets: [String: EmbeddedFile]

    init() {
        assets = PageFiles.styles(own: Self.styles).merging(PageFiles.scripts(own: Self.scripts)) { first, _ in first }
    }

    private static let styles: [String: [UInt8]] = [
        "activities": PackageResources.activities_css, "android": PackageResources.android_css,
        "app": PackageResources.app_css, "browser": PackageResources.browser_css,
        "compose": PackageResources.compose_css,
        "content": PackageResources.content_css, "controls": PackageResources.controls_css, "desk": PackageResources.desk_css,
        "frame": PackageResources.frame_css, "notices": PackageResources.notices_css, "panel": PackageResources.panel_css,
        "springboard": PackageResources.springboard_css, "story": PackageResources.story_css,
        "timeline": PackageResources.timeline_css,
    ]

    private static let scripts: [String: [UInt8]] = [
        "about": PackageResources.about_js, "activities": PackageResources.activities_js, "actors": PackageResources.actors_js,
        "announce": PackageResources.announce_js,
        "app": PackageResources.app_js, "bodytext": PackageResources.bodytext_js,
        "browser": PackageResources.browser_js,
        "compose": PackageResources.compose_js,
        "connection": PackageResources.connection_js,
        "content": PackageResources.content_js, "controls": PackageResources.controls_js, "cover": PackageResources.cover_js,
        "drop": PackageResources.drop_js, "fit": PackageResources.fit_js,
        "focus": PackageResources.focus_js,
        "foot": PackageResources.foot_js, "format": PackageResources.format_js, "gestures": PackageResources.gestures_js,
        "guide": PackageResources.guide_js, "handpush": PackageResources.handpush_js, "handset": PackageResources.handset_js,
        "journey": PackageResources.journey_js, "main": PackageResources.main_js,
        "notices": PackageResources.notices_js, "options": PackageResources.options_js, "panel": PackageResources.panel_js,
        "phone": PackageResources.phone_js, "player": PackageResources.player_js, "pushes": PackageResources.pushes_js,
        "reasons": PackageResources.reasons_js, "rich": PackageResources.rich_js, "save": PackageResources.save_js,
        "sent": PackageResources.sent_js, "springboard": PackageResources.springboard_js, "stage": PackageResources.stage_js,
        "state": PackageResources.state_js, "story": PackageResources.story_js, "templates": PackageResources.templates_js,
        "timeline": PackageResources.timeline_js, "top": PackageResources.top_js,
    ]

    /// The page itself.
    func page(for request: Request, context: ServiceRequestContext) throws -> Response { answer(index, to: request) }

    /// One of its files. Throws `not-found`.
    func asset(named name: String, for request: Request, context: ServiceRequestContext) throws -> Response {
        guard let asset = assets[name] else { throw ServiceError(.notFound, "the page has no such file") }
        return answer(asset, to: request)
    }

    /// Everything comes from this server, nothing inline; the page is in no frame, and its forms go nowhere. A picture that came to this
    /// browser is shown from its memory.
    static let contentSecurityPolicy = [
        "default-src 'self'", "img-src 'self' blob:", "worker-src 'self'", "object-src 'none'", "base-uri 'none'",
        "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private func answer(_ file: EmbeddedFile, to request: Request) -> Response {
        file.response(to: request, headers: [.contentSecurityPolicy: Self.contentSecurityPolicy])
    }
}
