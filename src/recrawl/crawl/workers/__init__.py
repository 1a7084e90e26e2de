"""Several workers, one crawl: each leases slots, and crawls each as if it were all there is.

Touches: the network, a store, the clock.
"""
