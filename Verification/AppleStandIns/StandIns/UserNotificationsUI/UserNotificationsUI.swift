// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
import UIKit
@_exported import UserNotifications

@MainActor
public protocol UNNotificationContentExtension: NSObjectProtocol {
    func didReceive(_ notification: UNNotification)
}
