package androidx.core.app;

public class NotificationChannelCompat {
    public static class Builder {
        public Builder(String id, int importance) {}

        public Builder setName(CharSequence name) { return this; }

        public NotificationChannelCompat build() { return new NotificationChannelCompat(); }
    }
}
