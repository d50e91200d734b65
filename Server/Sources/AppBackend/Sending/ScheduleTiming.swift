import CalendarTime
import RichPushModel
import ServiceErrors

/// When a schedule is due: at one moment, or by the clocks of a zone or of each device, on one date or on those of a rule.
struct ScheduleTiming {
    private struct LocalTiming {
        var start: LocalDateTime
        /// Where it is due first.
        var zone: TimeZoneRules
        /// The zone of devices that report none, if it is due by the clocks of the devices.
        var fallback: String?
        var rule: RecurrenceRule?
        var except: Set<LocalDate>
    }

    private enum Form {
        case moment(Timestamp)
        case local(LocalTiming)
    }

    private let form: Form
    /// Whether it is due more than once.
    var recurs: Bool { if case .local(let local) = form { local.rule != nil } else { false } }
    /// Whether the moments come from the rules of a zone.
    var isLocal: Bool { if case .local = form { true } else { false } }
    /// Whether it is due by the clocks of the devices.
    var isByDevice: Bool { if case .local(let local) = form { local.fallback != nil } else { false } }

    /// The word that stands in place of a zone for the clocks of the devices.
    static let deviceZone = "device"

    /// The most dates that a rule leaves out.
    private static let exceptionLimit = 100

    /// Throws `invalid-field` with the field that is wrong.
    init(_ request: ScheduleRequest, zones: TimeZoneDatabase) throws(ServiceError) {
        if let moment = request.sendAt {
            guard request.localTime == nil, request.timeZone == nil, request.recurrence == nil, request.except == nil,
                request.fallbackTimeZone == nil
            else {
                throw SendRequestCheck.wrong(
                    "sendAt", "absent where localTime, timeZone, fallbackTimeZone, repeat or except is given")
            }
            form = .moment(moment)
            return
        }
        guard let text = request.localTime else { throw SendRequestCheck.wrong("sendAt", "present, or localTime with timeZone") }
        guard let start = LocalDateTime(text) else {
            throw SendRequestCheck.wrong("localTime", "a date and a time of day such as 2026-12-24T18:00")
        }
        form = .local(
            LocalTiming(
                start: start, zone: try Self.zone(of: request, zones), fallback: try Self.fallback(of: request, zones),
                rule: try Self.rule(request.recurrence), except: try Self.exceptions(request)))
    }

    private static func zone(of request: ScheduleRequest, _ zones: TimeZoneDatabase) throws(ServiceError) -> TimeZoneRules {
        guard let name = request.timeZone else {
            throw SendRequestCheck.wrong("timeZone", "present beside localTime, for example Europe/Berlin, or \(deviceZone)")
        }
        return name == deviceZone ? .easternmost : try zone(name, "timeZone", zones)
    }

    private static func fallback(of request: ScheduleRequest, _ zones: TimeZoneDatabase) throws(ServiceError) -> String? {
        guard request.timeZone == deviceZone else {
            guard request.fallbackTimeZone == nil else {
                throw SendRequestCheck.wrong("fallbackTimeZone", "absent unless timeZone is \(deviceZone)")
            }
            return nil
        }
        let name = request.fallbackTimeZone ?? "UTC"
        _ = try zone(name, "fallbackTimeZone", zones)
        return name
    }

    private static func zone(
        _ name: String, _ field: String, _ zones: TimeZoneDatabase
    ) throws(ServiceError) -> TimeZoneRules {
        guard let zone = zones.zone(name) else {
            let known =
                zones.isInstalled ? "a zone of the tz database, such as Europe/Berlin" : "UTC: no tz database is installed"
            throw SendRequestCheck.wrong(field, known)
        }
        return zone
    }

    private static func rule(_ text: String?) throws(ServiceError) -> RecurrenceRule? {
        guard let text else { return nil }
        do { return try RecurrenceRule(parsing: text) } catch { throw ServiceError(.invalidField, "repeat: \(error)") }
    }

    private static func exceptions(_ request: ScheduleRequest) throws(ServiceError) -> Set<LocalDate> {
        guard let texts = request.except else { return [] }
        guard request.recurrence != nil else { throw SendRequestCheck.wrong("except", "absent without repeat") }
        let dates = texts.compactMap { LocalDate($0) }
        guard texts.count <= exceptionLimit, dates.count == texts.count else {
            throw SendRequestCheck.wrong("except", "at most \(exceptionLimit) dates such as 2026-12-25")
        }
        return Set(dates)
    }

    /// The occurrences from this number on, in order.
    func occurrences(from number: Int) -> AnySequence<ScheduleOccurrence> {
        switch form {
        case .moment(let moment):
            return AnySequence(number == 0 ? [ScheduleOccurrence(number: 0, dueAt: moment)] : [])
        case .local(let local):
            let dates = local.rule.map { AnySequence($0.dates(from: local.start.date)) } ?? AnySequence([local.start.date])
            return AnySequence(
                dates.lazy.enumerated().dropFirst(number).lazy.compactMap { number, date in
                    guard !local.except.contains(date) else { return nil }
                    let wish = LocalDateTime(date: date, secondOfDay: local.start.secondOfDay)
                    return local.zone.seconds(of: wish).map {
                        ScheduleOccurrence(number: number, dueAt: Timestamp(seconds: $0))
                    }
                })
        }
    }

    /// The first occurrence that is not over: by the clocks of devices it may have begun.
    func first(after now: Timestamp) -> ScheduleOccurrence? { occurrences(from: 0).first { end(of: $0) > now } }

    /// When an occurrence is due everywhere.
    func end(of occurrence: ScheduleOccurrence) -> Timestamp {
        isByDevice ? occurrence.dueAt + .seconds(TimeZoneRules.secondsAroundTheWorld) : occurrence.dueAt
    }

    /// What the clocks of the devices show at an occurrence; `nil` where another clock counts.
    func deviceTime(of occurrence: ScheduleOccurrence) -> String? {
        guard case .local(let local) = form, local.fallback != nil else { return nil }
        return local.zone.local(atSeconds: occurrence.dueAt.milliseconds / 1000).description
    }

    /// How an occurrence is sent that is due by the clocks of the devices; `nil` where another clock counts.
    func delivery(of occurrence: ScheduleOccurrence, in schedule: Schedule) -> LocalDelivery? {
        guard case .local(let local) = form, let fallback = local.fallback, let time = deviceTime(of: occurrence) else {
            return nil
        }
        return LocalDelivery(
            time: time, fallbackZone: fallback, notBefore: schedule.askedAt,
            lifetimeSeconds: schedule.draft.request.expiresAfterSeconds)
    }

    /// What is to be done at a moment about an occurrence that was due, and what comes after it.
    ///
    /// When several have passed, the last one is due and the others are missed. When the rules of the zone have changed, it may not be
    /// due yet.
    func due(from number: Int, at now: Timestamp) -> (due: ScheduleOccurrence?, missed: Int, next: ScheduleOccurrence?) {
        var (due, missed): (ScheduleOccurrence?, Int) = (nil, 0)
        for occurrence in occurrences(from: number) {
            if occurrence.dueAt > now { return (due, missed, occurrence) }
            // Two dates are one moment where a zone left out a day.
            if let earlier = due, occurrence.dueAt > earlier.dueAt { missed += 1 }
            due = occurrence
        }
        return (due, missed, nil)
    }
}
