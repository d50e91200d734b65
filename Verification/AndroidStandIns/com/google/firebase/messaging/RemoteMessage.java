package com.google.firebase.messaging;

import java.util.Map;

public final class RemoteMessage {
    private final Map<String, String> data;

    public RemoteMessage(Map<String, String> data) { this.data = data; }

    public Map<String, String> getData() { return data; }
}
