import RichPushModel
import WireText

/// The two ways beside `HTTPDate` in which a store writes a moment.
enum S3Moment {
    /// `20130524T000000Z`, as it is signed.
    static func stamp(_ moment: Timestamp) -> String { WireTime(moment).seconds.filter { $0 != "-" && $0 != ":" } }

    /// `2013-05-24T00:00:00.000Z`, as in documents, to the second.
    static func read(document text: String) -> Timestamp? {
        guard text.hasSuffix("Z"), text.utf8.count >= 20, let time = WireTime(text) else { return nil }
        return Timestamp(seconds: time.moment.seconds)
    }
}
