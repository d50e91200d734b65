package android.app.job;

import android.content.ComponentName;

public class JobInfo {
    public static final int BACKOFF_POLICY_EXPONENTIAL = 1;
    public static final long DEFAULT_INITIAL_BACKOFF_MILLIS = 30_000L;
    public static final int NETWORK_TYPE_ANY = 1;
    private final int id;

    private JobInfo(int id) { this.id = id; }

    public int getId() { return id; }

    public static final class Builder {
        private final int id;

        public Builder(int id, ComponentName service) { this.id = id; }

        public Builder setRequiredNetworkType(int type) { return this; }

        public Builder setBackoffCriteria(long initialMilliseconds, int policy) { return this; }

        public JobInfo build() { return new JobInfo(id); }
    }
}
