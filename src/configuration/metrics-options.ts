/** Where a worker serves its metrics. They hold no addresses, and whoever can connect may read them. */
export interface MetricsOptions {
  /**
   * Port to listen on; 0 takes any free one. Each worker on a machine needs its own. `--metrics-port` goes before it. No
   * default: without a port nothing is served.
   */
  port?: number | undefined;
  /** Address to listen on. Default `127.0.0.1`. Another one only where the network lets in nobody but Prometheus. */
  host?: string | undefined;
}
