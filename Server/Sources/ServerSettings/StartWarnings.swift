import CalendarTime
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A configuration that works but is less safe than it could be: logged at each start, and shown by `clarion doctor`.
package struct StartWarning: Hashable, Sendable {
    /// What was found, as a sentence without secrets.
    package var found: String
    /// What to do about it.
    package var advice: String

    /// Everything that the settings and the files show.
    static func all(_ settings: Settings) -> [StartWarning] { proxy(settings) + permissions(settings) + timeZones() }

    /// Writes each as a line.
    package static func log(_ settings: Settings, to logger: Logger) {
        for warning in all(settings) { logger.warning("\(warning.found); \(warning.advice)") }
    }

    /// Callers behind a proxy that is not trusted all count as one network.
    package static func proxy(_ settings: Settings) -> [StartWarning] {
        guard settings.listening.isBehindTLSProxy, settings.listening.trustedProxies.isEmpty else { return [] }
        return [
            StartWarning(
                found:
                    "behind-tls-proxy is set and trusted-proxies is empty: all callers count as one network when sign-ins fail",
                advice: "name the proxy's address in trusted-proxies, and let the proxy set X-Forwarded-For")
        ]
    }

    /// Without time zone data no schedule can be due by the clocks of a zone.
    package static func timeZones() -> [StartWarning] {
        guard !TimeZoneDatabase().isInstalled else { return [] }
        return [
            StartWarning(
                found: "there are no time zones but UTC", advice: "install the package tzdata, for schedules in local time")
        ]
    }

    /// The version and the place of the time zone data.
    package static var timeZoneData: String {
        "version \(TimeZoneDatabase().version ?? "unknown") of the tz database, in \(TimeZoneDatabase.systemDirectory)"
    }

    /// Which other users of this machine can read the data and the keys, and as which user the process runs.
    package static func permissions(_ settings: Settings, effectiveUser: UInt32 = geteuid()) -> [StartWarning] {
        var all: [StartWarning] = []
        if let mode = mode(of: settings.dataDirectory), mode & 0o027 != 0 {
            all.append(
                StartWarning(
                    found: "other users of this machine may \(mode & 0o022 != 0 ? "write" : "read") in \(settings.dataDirectory)",
                    advice: "chmod 700 \(settings.dataDirectory)"))
        }
        let keys = [
            settings.apns.credential?.keyPath, settings.fcm.keyPath, settings.webPush.keysPath,
            settings.listening.tls?.files?.keyPath,
        ]
        for path in keys.compactMap(\.self) {
            // A group of its own is a usual way to give a key to one service.
            guard let mode = mode(of: path), mode & 0o037 != 0 else { continue }
            all.append(
                StartWarning(found: "the key \(path) is open to other users of this machine", advice: "chmod 600 \(path)"))
        }
        if effectiveUser == 0 {
            all.append(
                StartWarning(
                    found: "the process runs as root", advice: "run it as a user of its own, which needs the data directory only")
            )
        }
        return all
    }

    /// The permission bits of what a path names; `nil` when there is nothing.
    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}
