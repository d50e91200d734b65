package com.google.firebase.messaging;

import com.google.android.gms.tasks.Task;

public class FirebaseMessaging {
    /** What the phone's system has. */
    public static volatile String token;

    public static FirebaseMessaging getInstance() { return new FirebaseMessaging(); }

    public Task<String> getToken() { return new Task<>(token); }
}
