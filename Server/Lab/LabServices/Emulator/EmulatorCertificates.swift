import APNsEmulation
import APNsProtocol
import RichPushModel
import ServiceErrors

/// Client certificates for a local APNs that has run here before.
public enum EmulatorCertificates {
    /// Writes certificate and key into one PEM file and returns the serial number. The environments are `sandbox`, `production`
    /// or both.
    public static func write(
        bundleID: String, environments: [String], furtherTopics: [String], directory: String, to path: String
    ) throws -> String {
        let now = SystemClock().now
        let known = environments.compactMap(APNsEnvironment.init(rawValue:))
        guard known.count == environments.count else {
            throw ServiceError(.invalidField, "an environment is 'sandbox' or 'production'")
        }
        guard EmulatorFolder.isOne(directory) else {
            throw ServiceError(.notFound, "\(directory) is no folder of a local APNs: start `clarion emulator` with it first")
        }
        return try EmulatorFolder(path: directory, now: now).writeClientCertificate(
            ClientCertificateRequest(bundleID: bundleID, environments: Set(known), furtherTopics: furtherTopics), to: path,
            now: now)
    }
}
