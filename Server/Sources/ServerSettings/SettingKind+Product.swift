import APNsHTTP2
import CalendarTime
import ContentStorage
import PostgresDatabase
import PushHub
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SettingKind where Value == SecretText {
    /// A master key.
    static var masterKey: SettingKind {
        .scalar(
            "the Base64 text of 32 random bytes, such as openssl rand -base64 32 prints",
            parse: { MasterKey(text: $0) == nil ? nil : SecretText($0) }, format: { _ in "(secret)" })
    }
}

extension SettingKind where Value == String {
    /// A bundle id.
    static var topic: SettingKind {
        .word("a bundle id such as com.example.app", length: 1...155, characters: letters + digits + ".-")
    }

    /// What Apple calls a team or key id.
    static var tenLetters: SettingKind {
        .word("ten capital letters and digits", length: 10...10, characters: String(letters.dropFirst(26)) + digits)
    }

    /// The name of a hub.
    static var hubName: SettingKind {
        .scalar(
            "a name of 1 to 64 lower-case letters, digits and hyphens that is not taken",
            parse: { text in
                let allowed = Set(letters.prefix(26) + digits + "-")
                let fits = (1...64).contains(text.count) && text.allSatisfy(allowed.contains) && !text.hasPrefix("-")
                return fits && !HubName.reserved.contains(text) ? text : nil
            }, format: { $0 })
    }

    /// Where the console is.
    static var consolePath: SettingKind {
        .scalar(
            "a path of one segment, such as /console: 1 to 40 lower-case letters, digits and hyphens that is not taken",
            parse: { text in
                let (name, allowed) = (String(text.dropFirst()), Set(letters.prefix(26) + digits + "-"))
                let fits = text.hasPrefix("/") && (1...40).contains(name.count) && name.allSatisfy(allowed.contains)
                return fits && (name == "console" || !HubName.reserved.contains(name)) ? text : nil
            }, format: { $0 })
    }

    /// The beginning of a tag.
    static var tagPrefix: SettingKind {
        .word(
            "the beginning of a tag, 1 to 60 of A-Z a-z 0-9 _ @ # . : -", length: 1...60, characters: letters + digits + "_@#.:-")
    }
}

private let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
private let digits = "0123456789"

extension SettingKind where Value == QuietHours {
    /// Hours of the day.
    static var quietHours: SettingKind {
        .scalar("two different times of day such as 22:00-08:00", parse: { QuietHours($0) }, format: { $0.description })
    }
}

extension SettingKind where Value == FrequencyCap {
    /// How many sends in which time.
    static var frequencyCap: SettingKind {
        .scalar(
            "a name and a limit such as marketing=3/7d: at most 1000 sends in 1m to 31d; the units are m, h and d",
            parse: { FrequencyCap($0) }, format: { $0.description })
    }
}

extension SettingKind where Value == AddressRange {
    /// An address, or a range such as `10.0.0.0/8`.
    static var addressRange: SettingKind {
        .scalar("an IP address or a range such as 10.0.0.0/8", parse: { AddressRange($0) }, format: { $0.description })
    }
}

extension SettingKind where Value == String {
    /// The address of a site: scheme and host, perhaps a port, nothing after them. `https`, or `http` to this machine.
    static var siteURL: SettingKind {
        .scalar(
            "an address such as https://push.example.com (http only for this machine; no path)",
            parse: { text in
                guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil, url.query() == nil,
                    url.fragment() == nil, url.path().isEmpty || url.path() == "/"
                else { return nil }
                guard url.scheme == "https" || (url.scheme == "http" && AddressRange.isLoopback(host: host)) else { return nil }
                return text.hasSuffix("/") ? String(text.dropLast()) : text
            }, format: { $0 })
    }
}

extension SettingKind where Value == String {
    /// The origin of a page, as browsers write it: in lower case, and without the usual port of the scheme.
    static var webOrigin: SettingKind {
        .scalar(
            "the origin of a site such as https://shop.example (http only for this machine; no path, no wildcard)",
            parse: { text in siteURL.parse([text.lowercased()]).flatMap { origin(of: $0) } }, format: { $0 })
    }

    /// - Parameter site: an address without a path.
    private static func origin(of site: String) -> String? {
        guard let mark = site.firstRange(of: "://") else { return nil }
        let authority = site[mark.upperBound...]
        // Browsers write other letters in their ASCII form (xn--).
        let allowed = Set(letters.prefix(26) + digits + ".-:[]")
        guard authority.allSatisfy(allowed.contains) else { return nil }
        guard !authority.hasSuffix("]"), let colon = authority.lastIndex(of: ":") else { return site }
        let port = String(authority[authority.index(after: colon)...])
        guard let number = Int(port), (1...65_535).contains(number), port == String(number) else { return nil }
        let isUsual = number == (site.hasPrefix("https:") ? 443 : 80)
        return isUsual ? String(site[..<colon]) : site
    }
}

extension SettingKind where Value == APNsProxy {
    /// An HTTP proxy, perhaps with a name and a password. Never shown whole.
    static var proxy: SettingKind {
        .scalar("an address such as http://proxy.example:3128 or http://name:password@proxy.example:3128", parse: parse) {
            _ in "(secret)"
        }
    }

    private static func parse(_ text: String) -> APNsProxy? {
        guard let url = URL(string: text), url.scheme == "http", let host = url.host(), !host.isEmpty, let port = url.port,
            (1...65_535).contains(port), url.path().isEmpty || url.path() == "/", url.query() == nil, url.fragment() == nil
        else { return nil }
        guard let user = url.user(percentEncoded: false), !user.isEmpty else {
            return url.password() == nil ? APNsProxy(host: host, port: port) : nil
        }
        guard !user.contains(":") else { return nil }
        let password = url.password(percentEncoded: false) ?? ""
        return APNsProxy(host: host, port: port, credentials: .init(user: user, password: password))
    }
}

extension SettingKind where Value == DatabaseURL {
    /// Where a PostgreSQL database is, perhaps with a password. Never shown whole.
    static var databaseURL: SettingKind {
        .scalar(
            "an address such as postgres://user:password@host/database, with % and two digits for what is special in a password",
            parse: { try? DatabaseURL($0) }, format: { _ in "(secret)" })
    }
}

extension SettingKind where Value == String {
    /// The name of a bucket.
    static var bucket: SettingKind {
        .scalar(
            "the name of a bucket: 3 to 63 lower-case letters, digits, hyphens and dots",
            parse: { S3Location.isBucket($0) ? $0 : nil }, format: { $0 })
    }

    /// The beginning of keys.
    static var keyPrefix: SettingKind {
        .scalar(
            "the beginning of keys: at most 200 letters, digits and ._-/ without a slash at its beginning",
            parse: { !$0.isEmpty && S3Location.isPrefix($0) ? $0 : nil }, format: { $0 })
    }

    /// A region of a store.
    static var region: SettingKind {
        .word("a region such as eu-central-1", length: 1...64, characters: "abcdefghijklmnopqrstuvwxyz0123456789-")
    }

    /// The id of an access key. It stands between slashes in a signed header.
    static var storeKeyID: SettingKind {
        .scalar(
            "the id of an access key: 1 to 128 letters, digits and signs without slash and comma",
            parse: { text in
                let fits = text.unicodeScalars.allSatisfy { (33...126).contains($0.value) && $0 != "/" && $0 != "," }
                return fits && (1...128).contains(text.count) ? text : nil
            }, format: { $0 })
    }
}

extension SettingKind where Value == S3Endpoint {
    /// Where a store answers.
    static var storeAddress: SettingKind {
        .scalar(
            "an address such as https://s3.example.com or http://127.0.0.1:9000 (no path)", parse: { S3Endpoint($0) },
            format: { $0.description })
    }
}

extension SettingKind where Value == SecretText {
    /// A secret without spaces; the line break at the end of a file does not count.
    static var secretWord: SettingKind {
        .scalar(
            "one word of 1 to 4000 letters, digits and signs",
            parse: { text in
                let word = text.hasSuffix("\n") ? text.dropLast() : text[...]
                let fits = word.unicodeScalars.allSatisfy { (33...126).contains($0.value) }
                return fits && (1...4_000).contains(word.count) ? SecretText(String(word)) : nil
            }, format: { _ in "(secret)" })
    }
}
