import RichPushModel
import ServiceErrors
import TagExpressions

extension NotificationHub {
    public var decidesForDevices: Bool { true }

    public func groupOutcomes(of id: NotificationID) async throws -> [Int: [TargetOutcome: Int]] {
        try await stores.telemetry.groupOutcomes(of: id, in: self.id)
    }

    public func outcomeReports(of id: NotificationID, limit: Int) async throws -> [OutcomeReport] {
        try await stores.telemetry.outcomeReports(of: id, limit: limit, in: self.id)
    }

    public func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID) async throws {
        try await stores.telemetry.removeOutcomeReports(numbers, of: id, in: self.id)
    }

    public func capCount(of device: RecordID, for id: NotificationID) async throws -> CapCount? {
        try await stores.telemetry.capCount(of: device, for: id, in: self.id, at: clock.now)
    }

    public func timeZones(of audience: TagExpression) async throws -> Set<String> {
        try await stores.intake.timeZones(of: audience, in: id, limit: SlicePlan.singleSliceLimit)
    }

    public func waves(of id: NotificationID) async throws -> [WaveProgress] {
        try await stores.telemetry.waves(of: id, in: self.id)
    }

    /// Throws unless a send can be due by local time.
    func check(_ zones: ZoneMoments, of command: SendCommand, _ now: Timestamp) throws {
        guard case .native = command.format, command.recipients.handles == nil, command.dueAt == nil else {
            throw ServiceError(.invalidField, "a send by local time is a native send to an audience, without another time")
        }
        guard zones.moments.keys.allSatisfy({ (1...64).contains($0.utf8.count) }), zones.moments.count <= ZoneMoments.limit else {
            throw ServiceError(.invalidField, "a send by local time has at most \(ZoneMoments.limit) zones")
        }
        guard !zones.waves.isEmpty, zones.waves.allSatisfy({ $0.moment <= now + Self.longestSend }) else {
            throw ServiceError(.invalidField, "a send by local time is due everywhere within three days")
        }
    }

    /// Once around the world, and a day of quiet hours.
    private static let longestSend: Duration = .seconds(3 * 86_400)

    /// What is due when, and where it is found.
    ///
    /// Of a small audience, or at a pace, each wave reads the whole audience and leaves out what is due at another moment. A large one is
    /// found by the zones of the wave, so that all waves together read each device about once. Only the wave of the devices without a zone,
    /// and one of very many zones, read a large audience as a whole.
    func waves(
        _ zones: ZoneMoments, of audience: CompiledAudience, _ expression: TagExpression?, pace: Int?
    ) async throws -> [SendWave] {
        let isLarge = audience.size > SlicePlan.singleSliceLimit && pace == nil
        let counts =
            isLarge
            ? try await stores.intake.deviceCounts(
                ofZones: Set(zones.moments.keys), in: id, limit: SlicePlan.singleSliceLimit + 1) : [:]
        let staggered = isLarge ? zones.staggered(by: TagExpressionLimits.tagsInAlternatives) : zones
        return staggered.waves.map { moment, names in
            var (query, size) = (audience.query, audience.size)
            if isLarge, !names.contains(ZoneMoments.otherZones),
                let narrowed = AudienceQuery(expression, amongAnyOf: names.map(DeviceZone.indexEntry))
            {
                query = narrowed
                size = min(size, names.reduce(0) { $0 + (counts[$1] ?? 0) })
            }
            return SendWave(
                moment: moment, zones: names, expiresAt: zones.expiry(of: moment), query: query,
                slices: SlicePlan(audience: size, isScheduled: true, pushesPerSecond: pace))
        }
    }
}
