import PushHub

/// Several observers as one.
struct HubObservers: HubObserver {
    let observers: [any HubObserver]

    func accepted(_ send: AcceptedSend) { for observer in observers { observer.accepted(send) } }

    func leased(_ weight: SliceWeight) { for observer in observers { observer.leased(weight) } }

    func released(_ weight: SliceWeight) { for observer in observers { observer.released(weight) } }

    func sending(_ batch: PushBatch, of notification: NotificationID, retries: Int, doubtful: Int) {
        for observer in observers { observer.sending(batch, of: notification, retries: retries, doubtful: doubtful) }
    }

    func sent(_ batch: PushBatch, of notification: NotificationID, outcomes: PushOutcomes) {
        for observer in observers { observer.sent(batch, of: notification, outcomes: outcomes) }
    }

    func ended(_ notification: NotificationID, in hub: HubID, state: NotificationState) {
        for observer in observers { observer.ended(notification, in: hub, state: state) }
    }
}
