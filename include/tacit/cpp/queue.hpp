/* SPDX-License-Identifier: BSD-3-Clause
 * tacit/cpp/queue.hpp - of tacit.hpp: worlds, queues, vectors of a device
 * (tacit/world.h, tacit/queue.h). */
#ifndef TACIT_CPP_QUEUE_HPP
#define TACIT_CPP_QUEUE_HPP
#include <string>
#include <tacit/cpp/base.hpp>
#include <tacit/queue.h>
#include <vector>

namespace tacit
{

/* The processes that take part. */
class world
{
  public:
    /* This process alone. */
    world()
        : object_(
              detail::share<tacit_world>(tacit_world_destroy, tacit_world_self))
    {
    }

    /* A world made in C, which the handles own from now on. */
    static world adopt(tacit_world *raw)
    {
        return world(detail::shared(raw, tacit_world_destroy));
    }

    int rank() const { return tacit_world_rank(get()); }
    int size() const { return tacit_world_size(get()); }
    void set_threads(int threads) const
    {
        detail::check(tacit_world_set_threads(get(), threads));
    }
    void set_timeout(double seconds) const
    {
        detail::check(tacit_world_set_patience(get(), seconds));
    }

    /* The processes with the same `colour`; below 0: none, and get() is null.
     * Collective. */
    world split(int colour) const
    {
        return world(detail::share<tacit_world>(
            tacit_world_destroy,
            [&](tacit_world **out) {
                return tacit_world_split(get(), colour, out);
            },
            object_));
    }

    /* Of `values` the sum, least or greatest over the ranks, in place; of one
     * value. Collective. */
    void reduce(tacit_reduction how, span<double> values) const
    {
        detail::check(
            tacit_world_reduce(get(), how, values.size(), values.data()));
    }
    double sum(double value) const { return reduced(TACIT_SUM, value); }
    double min(double value) const { return reduced(TACIT_MIN, value); }
    double max(double value) const { return reduced(TACIT_MAX, value); }

    /* Throw on all ranks if `ok` is false on one; its `sentence` says why.
     * Collective. */
    void require(bool ok, const char *sentence) const
    {
        const tacit_status mine =
            ok ? TACIT_OK : tacit_error_set(TACIT_INVALID, "%s", sentence);
        detail::check(tacit_world_agree(get(), mine));
    }

    tacit_world *get() const noexcept { return object_.get(); }

  private:
    explicit world(std::shared_ptr<tacit_world> object)
        : object_(std::move(object))
    {
    }
    double reduced(tacit_reduction how, double value) const
    {
        reduce(how, span<double>(&value, 1));
        return value;
    }

    std::shared_ptr<tacit_world> object_;
};

/* Work on one device, in order. */
class queue
{
  public:
    /* A queue on `device`, "host" or "cuda": see tacit_queue_create.
     * Collective. */
    explicit queue(const tacit::world &w = {},
                   const std::string &device = "host", int threads = 0)
        : world_(w), on_host_(device.compare(0, device.find('@'), "host") == 0),
          object_(detail::share<tacit_queue>(
              tacit_queue_destroy,
              [&](tacit_queue **out) {
                  return tacit_queue_create(w.get(), device.c_str(), threads,
                                            out);
              },
              w))
    {
    }

    const tacit::world &world() const noexcept { return world_; }
    /* Its vectors are host memory, so that arrays of the host are vectors. */
    bool on_host() const noexcept { return on_host_; }
    int threads() const { return tacit_queue_threads(get()); }
    std::string link() const { return tacit_queue_link(get()); }
    /* The name of the hardware. */
    std::string hardware() const
    {
        char text[256];
        tacit_queue_describe(get(), text, sizeof text);
        return text;
    }
    /* The counts of a queue on "count:..."; null of others. */
    const tacit_tally *tally() const { return tacit_queue_tally(get()); }

    tacit_queue *get() const noexcept { return object_.get(); }

  private:
    tacit::world world_;
    bool on_host_;
    std::shared_ptr<tacit_queue> object_;
};

/* A vector on the device of a queue. */
class device_vector
{
  public:
    /* `size` elements, undefined; or those of `host`. */
    device_vector(const queue &q, std::size_t size)
        : queue_(q), size_(size), data_(allocate(q, size), freeing{q})
    {
    }
    device_vector(const queue &q, span<const double> host)
        : device_vector(q, host.size())
    {
        put(host);
    }

    double *data() const noexcept { return data_.get(); }
    std::size_t size() const noexcept { return size_; }

    /* Copy from host memory, or to it: exactly size() elements. Blocking. */
    void put(span<const double> host)
    {
        check_size(host.size());
        detail::check(
            tacit_queue_put(queue_.get(), size_, host.data(), data()));
    }
    void get(span<double> host) const
    {
        check_size(host.size());
        detail::check(
            tacit_queue_get(queue_.get(), size_, data(), host.data()));
    }
    std::vector<double> host() const
    {
        std::vector<double> out(size_);
        get(out);
        return out;
    }
    void fill(double value)
    {
        detail::check(tacit_queue_fill(queue_.get(), size_, value, data()));
    }

    /* The Euclidean norm over all ranks. Collective. */
    double norm() const
    {
        double out = 0.0;
        detail::check(
            tacit_queue_distance(queue_.get(), size_, data(), nullptr, &out));
        return out;
    }

  private:
    struct freeing {
        queue q;
        void operator()(double *x) const { tacit_queue_free(q.get(), &x); }
    };

    static double *allocate(const queue &q, std::size_t size)
    {
        return detail::made<double>([&](double **out) {
            return tacit_queue_alloc(q.get(), size + (size == 0), out);
        });
    }
    void check_size(std::size_t size) const
    {
        if (size == size_) return;
        throw error(TACIT_INVALID, "an array of " + std::to_string(size) +
                                       " elements for a vector of " +
                                       std::to_string(size_));
    }

    queue queue_;
    std::size_t size_;
    std::unique_ptr<double, freeing> data_;
};

} // namespace tacit
#endif
