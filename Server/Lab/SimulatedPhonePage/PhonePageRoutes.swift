import DeviceSimulation
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// The web page of the simulated phones, and what it talks to:
///
/// - `GET /phone` and `GET /phone/{phone}`: the page with all phones, or with one alone;
/// - `GET /phone/assets/{file}`: its files, embedded in the program;
/// - `GET /phone/phones`: which phones there are;
/// - `GET /phone/events` and `GET /phone/{phone}/events`: snapshots and story as server-sent events, of all phones or of one;
/// - `POST /phone/{phone}/actions`: what a person does, as JSON;
/// - `GET /phone/{phone}/media/{richId}`: the bytes that the phone fetched;
/// - the tools beside the phones, see `addToolRoutes`.
///
/// Whoever can reach these routes holds the phones in their hands, so they belong on a loopback listener; pages of other
/// sites are refused.
public struct PhonePageRoutes: Sendable {
    private let phones: [any PagePhone]
    private let clock: any ServiceClock
    private let assets = PhonePageAssets()
    let tools: (any PhoneTools)?
    /// Tells the browser that the story starts anew with this process.
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
}

extension PhonePageRoutes {
    /// The largest action: a message of the greatest length with room for its escapes.
    private static let actionLimit = 64 << 10

    /// Only the name, to tell an unknown action from a wrong parameter.
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
}
