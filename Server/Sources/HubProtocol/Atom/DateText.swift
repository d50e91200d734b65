import RichPushModel
import WireText

/// Dates in the forms of the XML of the protocol: always UTC with `Z`. `WireTime` reads them all.
enum DateText {
    /// The first moment of the year 9999, from which on a date means never.
    private static let yearOfNever: Int64 = 253_370_764_800_000

    /// `2026-03-01T10:00:00Z`, as Atom has it.
    static func seconds(_ moment: Timestamp) -> String { WireTime(moment).seconds }

    /// `2026-03-01T10:00:00.12Z`, without zeros at the end, as telemetry has it (Reference/AzureNotificationHubs.md#2-9).
    static func shortest(_ moment: Timestamp) -> String {
        var digits = WireTime(moment).description.dropLast()
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits + "Z"
    }

    /// An expiry, always with three digits (Reference/AzureNotificationHubs.md#0-5): absent is never.
    static func expiry(_ moment: Timestamp?) -> String {
        guard let moment, moment.milliseconds < yearOfNever else { return WireTime.never.description }
        return WireTime(moment).description
    }

    /// The expiry in a child, `nil` for never.
    static func expiry(_ name: String, in element: XMLElement) throws(HubDocumentError) -> Timestamp? {
        guard let moment = try element.moment(name), moment.milliseconds < yearOfNever else { return nil }
        return moment
    }

    /// The moment in a text, `nil` when it is no date.
    static func read(_ text: String) -> Timestamp? { WireTime(text)?.moment }
}
