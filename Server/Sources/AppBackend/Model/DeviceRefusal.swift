import RichPushModel
import ServiceErrors

/// A hub does not take a device as its user registered it, however often it is asked.
struct DeviceRefusal: Error {
    var error: ServiceError
}

extension ServiceError {
    /// Whether an answer to a device is about the device. Everything else may be otherwise the next time.
    var refusesDevice: Bool { [.invalidField, .conflict, .quotaExceeded, .payloadTooLarge, .registrationGone].contains(code) }
}

extension Tag {
    /// Whether it stands for a user; senders address people by it.
    var namesUser: Bool { text.lowercased().hasPrefix("username:") }
}
