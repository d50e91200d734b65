/// The operations of the hub protocol (Reference/AzureNotificationHubs.md#2-0) and the status with which each succeeds.
///
/// The statuses are those that the clients insist on, not always those that are documented
/// (Reference/AzureNotificationHubs.md#0-6).
public enum HubOperation: String, Sendable, CaseIterable {
    case createRegistration, createRegistrationID, registration, putRegistration, deleteRegistration
    case registrations, registrationsByTag
    case putInstallation, installation, patchInstallation, deleteInstallation
    case send, sendBatch, schedule, cancelSchedule, telemetry
    case feedbackContainer
    case submitJob, jobs, job
    case putHub, hub, deleteHub, hubs

    /// The one status of success. For `putHub` it is that of an update; a hub that was created is answered with
    /// `createdHubStatus`.
    public var successStatus: Int {
        switch self {
        case .createRegistrationID, .send, .sendBatch, .schedule, .submitJob: 201
        case .deleteInstallation: 204
        case .createRegistration, .registration, .putRegistration, .deleteRegistration, .registrations, .registrationsByTag,
            .putInstallation, .installation, .patchInstallation, .cancelSchedule, .telemetry, .feedbackContainer, .jobs, .job,
            .putHub, .hub, .deleteHub, .hubs:
            200
        }
    }

    /// The status of a hub that a PUT created.
    public static let createdHubStatus = 201
}
